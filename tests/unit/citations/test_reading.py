"""Modality and negation of each word of a sentence, and relations between its parts."""

# ruff: noqa: E501 - a sentence a line

import pytest

from judge.citations.reading import read
from judge.citations.relations import find_comparison, find_order, find_role, owned
from judge.citations.stance import Word
from judge.citations.vocabulary import statement_tokens

# `!` marks the first word that a cue holds for; `mixed` a clause that holds one thing and denies another.
SAID = """
Your landlord must not repair the boiler. | landlord=fact mixed, repair=must not! mixed, boiler=must not mixed
You do not have to answer questions. | answer=can not!, questions=can not
You should not ignore the letter, but you can wait. | ignore=should not!, letter=should not, wait=can!
Smoking is not allowed in the flat. | smoking=must not! mixed, flat=fact mixed
A licence is required to sell food. | licence=fact, sell=must!, food=must
No tenant under 18 can sign the lease. | tenant=fact! mixed, under=fact mixed, sign=must not! mixed, lease=must not mixed
Nothing is charged for a copy. | charged=fact not! mixed, copy=fact mixed
You can be evicted unless you pay. | evicted=can!, pay=fact not! only
Rent can rise only if both sides sign. | rent=fact, rise=can!, sides=fact only all, sign=fact only
Rent can rise even if nobody signs. | rent=fact, rise=can!, signs=fact not! even
You cannot refuse without a reason. | refuse=must not!, reason=fact not! without
The order stops your ex from entering the home. | order=fact mixed, ex=fact mixed, entering=must not! mixed, home=must not mixed
If it keeps you from sleeping tell the council. | sleeping=must not! if, tell=must not if, council=must not if
Most workers get a statement and few refuse it. | workers=fact most, get=fact, statement=fact, refuse=fact few
All workers (not agents) get breaks. | workers=fact all, agents=fact not!, get=fact, breaks=fact
Late payment is no ground on which a lodger may be evicted. | late=fact, payment=fact, ground=fact!, lodger=fact mixed, evicted=must not! mixed
The manager turned down the request. | manager=fact, turned=fact, request=fact
Sellers are turning down offers. | sellers=fact, turning=fact, offers=fact
The loan was interest-free. | loan=fact mixed, interest=fact not! without mixed
If posters are not removed, the council will remove them. | posters=fact if mixed, removed=fact not! if mixed, council=fact, remove=fact
It is illegal to leave a child alone. | leave=must not!, child=must not, alone=must not
Legal aid is not available. | legal=fact mixed, aid=fact mixed, available=fact not! mixed
Families apply early. | families=fact, apply=fact, early=fact
It's the tenant's job to clean. | it's=fact, tenant's=fact, clean=must!
You dont pay and cant leave. | pay=fact not!, leave=must not!
We won’t pay. | pay=fact not!
The bank denied that the card was stolen. | bank=fact mixed, card=fact not! mixed, stolen=fact not mixed
You need help, and may get it where you live. | get=can!, live=fact if
A ban on pets is unlawful. | pets=must not!
They avoid paying because of fees. | paying=fact not!, fees=fact not
Parking is fine, but not here. | parking=can!
If you (the tenant) pay, it ends. | tenant=fact if, pay=fact, ends=fact
You must (in winter) heat it. | winter=fact, heat=fact
The fee is optional or voluntary. | fee=can not!
Meat-free meals are recommended. | meat=should! without, meals=should! without
Tenants failing to pay may not stay. | tenants=fact mixed, pay=fact not! mixed, stay=must not! mixed
""".strip().splitlines()

OPPOSITE = """
The manager turned down the request. | turned
Sellers are turning down offers. | turning
The fence is drier and dearer. | dearer
He is the worse of the two. | worse
You lose money. | lose
""".strip().splitlines()

ROLES = """
The tenant must pay the landlord. | pay | tenant -> landlord
The tenant must be paid by the landlord. | pay | landlord -> tenant
If the school consults parents, teachers help them. | consult | school -> parent if
If the school consults parents, teachers help them. | help | teacher -> they
The owner shares a kitchen with lodgers. | share |
The owner shares a kitchen with lodgers. | kitchen |
The rights of tenants protect owners. | protect | -> owner
Your landlord must give notice to the tenant. | give | landlord -> tenant
Parents learn by teachers. | learn | parent ->
The neighbour pays on behalf of the tenant. | pay | neighbour ->
Parents are told by teachers. | told | teacher -> parent
""".strip().splitlines()

ORDER = """
You must get permission before cutting the hedge. | permission | hedge
After the visit, a report is sent. | visit | report
A report is sent after the visit, by post. | visit | report
You pay, before the visit, a fee. | pay | visit
You pay prior to the visit. | pay | visit
""".strip().splitlines()

COMPARED = """
The sign costs less than the fence. | sign | fence | -1
The fence costs more than the sign. | fence | sign | 1
The fence is higher than the sign. | fence | sign | 1
The fence is dearer than the sign. | fence | sign | -1
The sign is worse than the fence. | sign | fence | -1
Owners must not pay more than renters. | owners | renters | -1
People have fewer rights than dogs when they travel. | people | dogs | -1
""".strip().splitlines()


def cells(lines: list[str]) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in line.split("|")) for line in lines]


def concepts(words: str) -> set[str]:
    return {word.lexeme.concept for word in read(words).words}


def said_of(word: Word, tokens: list[str]) -> str:
    held = " not" if word.stance.sign < 0 else ""
    rest = (word.condition, word.quantifier, "mixed" if word.is_in_mixed_clause else "")
    first = f"{tokens[word.at]}={word.stance.modality}{held}{'!' if word.is_head else ''}"
    return " ".join([first, *filter(None, rest)])


@pytest.mark.parametrize(("sentence", "said"), cells(SAID))
def test_each_word_has_its_modality_and_negation(sentence: str, said: str) -> None:
    tokens = statement_tokens(sentence)
    assert ", ".join(said_of(word, tokens) for word in read(sentence).words) == said


@pytest.mark.parametrize(("sentence", "turned"), cells(OPPOSITE))
def test_antonym_is_read_as_the_negated_word(sentence: str, turned: str) -> None:
    tokens = statement_tokens(sentence)
    assert [tokens[word.at] for word in read(sentence).words if word.lexeme.sign < 0] == [turned]


@pytest.mark.parametrize(("sentence", "verb", "told"), cells(ROLES))
def test_agent_and_patient_follow_the_order_of_people(sentence: str, verb: str, told: str) -> None:
    statement = read(sentence)
    found = [
        f"{role.agent} -> {role.patient}{' if' if word.condition else ''}".strip()
        for word in statement.words
        if word.is_verb and {word.lexeme.concept} == concepts(verb)
        if (role := find_role(word, statement))
    ]
    assert found == ([told] if told else [])


@pytest.mark.parametrize(("sentence", "earlier", "later"), cells(ORDER))
def test_order_of_events_is_read(sentence: str, earlier: str, later: str) -> None:
    first, then = find_order(read(sentence))
    assert concepts(earlier) <= first
    assert concepts(later) <= then
    assert not first & then


@pytest.mark.parametrize(
    "sentence",
    ["Before 9 you pay.", "The day after.", "Pay before lunch and after work.", "After lunch"],
)
def test_order_needs_two_events(sentence: str) -> None:
    assert find_order(read(sentence)) == (frozenset(), frozenset())


@pytest.mark.parametrize(("sentence", "one", "other", "sign"), cells(COMPARED))
def test_comparison_has_the_words_on_either_side_of_than(
    sentence: str, one: str, other: str, sign: str
) -> None:
    found = find_comparison(read(sentence))
    assert found is not None
    assert concepts(one) <= {name for name, _ in found.greater}
    assert concepts(other) <= {name for name, _ in found.lesser}
    assert set(found.by.values()) == {int(sign)}
    assert not found.greater & found.lesser


def test_a_comparison_says_by_what_unless_it_is_by_how_much() -> None:
    def by(degree: str) -> str:
        found = find_comparison(read(f"The fence is {degree} than the sign."))
        return " ".join(found.by) if found else "-"

    assert by("higher") == by("more") == by("less") == ""
    assert by("dearer") == by("cheaper") != ""
    assert by("drier") not in {"", by("dearer")}


def test_negated_side_of_a_comparison_is_negated() -> None:
    sentence = "Married people have fewer rights than those who are not married."
    found = find_comparison(read(sentence))
    assert found is not None
    assert ("marri", 1) in found.greater
    assert ("marri", -1) in found.lesser


@pytest.mark.parametrize(
    "sentence",
    [
        "Rent is more than 500 pounds.",
        "Rent is more than half.",
        "It is bigger than it was than ever.",
        "Rather them than us.",
        "Dogs sleep than cats.",
        "She is kinder than (so they say) he.",
        "More of the same comes to all of the people here rather than there.",
    ],
)
def test_one_thing_alone_is_not_compared(sentence: str) -> None:
    assert find_comparison(read(sentence)) is None


@pytest.mark.parametrize(
    ("sentence", "reach"),
    [
        ("Only the owner can end it.", "only"),
        ("Nobody but the owner can end it.", "only"),
        ("It is solely for children.", "only"),
        ("Anyone can end it.", "any"),
        ("You may come too.", "any"),
        ("Only children may come, and everyone else.", ""),
        ("The owner can end it.", ""),
    ],
)
def test_a_sentence_may_be_of_some_alone_or_of_everyone(sentence: str, reach: str) -> None:
    assert read(sentence).exclusivity == reach


def test_people_who_are_somebodys_are_owned() -> None:
    assert owned(read("Your landlord's agent calls his tenant at the school.")) == {
        "landlord",
        "tenant",
    }
