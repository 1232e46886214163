"""Of two thousand sentences that cite nothing, none is a hard defect, hardly one asked again.

Templates times fillings, and a list written by hand; the same ones each time.
"""

import json
import random
from collections.abc import Iterator

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.check import check_reply
from judge.types.replies import ModelReply
from judge.types.requests import JudgeRequest
from tests.unit.judging.verdicts.replies import REFERENCES, good_reply, personas

FILLINGS = {
    "n": ["2", "3", "7", "9", "12", "14", "21", "28", "45", "90", "150", "2,500"],
    "year": ["1985", "1998", "2003", "2010", "2019", "2021", "2024"],
    "court": ["UKSC 28", "EWCA Civ 1234", "EWHC 123 (Ch)", "UKUT 45 (LC)", "1 WLR 896", "AC 809",
              "2 All ER 345", "QB 946", "I.R.L.R. 356", "CSIH 61", "UKEAT 0056", "NICA 14"],
    "name": ["Samuels v Birmingham CC", "Street v Mountford", "Re B (a child)", "Wallis",
             "Potter v Dyer", "Edwards v Kumarasamy"],
    "day": ["Monday", "Tuesday", "Friday", "Sunday"],
    "month": ["January", "May", "August", "November"],
    "time": ["9am", "09:14", "7.30 p.m.", "noon", "23:59"],
    "unit": ["days", "weeks", "months", "hours", "years"],
    "act": ["Housing Act 1988", "Equality Act 2010", "Children Act 1989"],
    "form": ["N5B", "N1", "SF-34", "D8", "TR4", "6A", "P45"],
    "food": ["flour", "milk", "sugar", "butter", "rice"],
    "who": ["landlord", "neighbour", "manager", "flatmate", "sister", "agent"],
}  # fmt: skip
TEMPLATES = """
The court held this in {name} [{year}] {court}.
{name} [{year}] {court} was decided on other facts, and [sic] nobody asked.
Section {n}({n}) of the {act} may apply, and s {n} too.
Read para {n} of Schedule 2 to the {act}; it has {n} parts.
Use Form [{form}] within {n} {unit}.
Write the reference on the back of form {form}, in the box [for office use].
Mix {n} g of {food} [or oat {food}] with {n} ml of water.
Serves {n} [or {n} small portions].
[{n}/11/2026, 09:14:22] Me: the boiler is still broken
[12/{n}/2026, {time}] Your {who}: later!!
She sent <3 and {n} at {time}, lol [sticker].
You paid £{n} (about €{n}) for it, not £{n}.50.
It cost £{n} [incl. VAT], that is {n} x £10 = £{n}0.
The flat [{n} bed] costs £{n} pcm.
Rent is due on {n} {month} {year}, which was a {day}.
Your {who}'s son ({n}) was cold, and both ({n} and 14) were at home.
There are two steps: (1) write to your {who}; (2) wait {n} {unit}.
The office opens 9-5, except {day}s, and is at {n} Acacia Road.
Your {who} gave you a bad reference {n} years ago.
You handed in two references {n} {unit} later, as your {who} asked.
Quote reference {n} when you ring your {who}.
For reference, {n} letters were sent to your {who}.
It is one of two sources of income, and the second source of trouble.
Your {who} said “within {n} {unit}”, or «{n} {unit}», or ‘{n}’.
The sign says 「{n}」, ‹{n}› or {{{n}}}, and the label <b>{n}</b>.
Room {n}, flat {n}b, on the {n}th floor, has {n} m².
Run `ls -l a[{n}]` and see x^{n}.
It is grade (ii) listed, model [Vaillant {n}35], EPC band [D].
See https://www.gov.uk/guide?page=9, {n} pages, or [Section 21](https://www.gov.uk/evicting-tenants).
His own number is 01632 960 123 and his address repairs@example.org.
He said « dans {n} jours » et puis rien.
Il a répondu : «Je reviendrai dans {n} jours», le {n} mai.
Er sagte: „in {n} Tagen“, und kam nach {n} Wochen [sic].
Dijo que vendría en {n} días [sin falta] y no vino.
Mae gennych {n} diwrnod i dalu [y blaendal].
Он сказал: «через {n} дней», и не пришёл.
他说“{n}天”，然后【没有】来。
قال «خلال {n} أيام» ولم يأت.
""".strip().splitlines()
BY_HAND = """
OJ [2004] L 158 is a European text.
You paid for 9 of 12 months, that is 3/4 of the year [at most].
He should know that 2 + 2 = 4 [obviously].
It is [almost] the same as in Part II, Chapter 2, paragraph 14.
The message is still [unread], and [image omitted] is all that is left of it.
The group chat “Flat #9” is where he said it.
With reference to 9 Acacia Road, he is silent.
The reference number on your letter is 4512.
[At 9pm] he came, and [10 minutes later] he left.
~~14~~ 10 days was his offer; **28** would be fair.
A score of 4–1 [after extra time] is no reason to shout.
Your case reference 12 is on the letter.
He was given the choice [see above] of 2 weeks or 3.
The lease [clause 3.2] says nothing of pets.
I Samuel [1 Sam. 3:1] is quoted on the wall.
The photo [IMG_2024.jpg] shows the crack.
He owes you £9 [nine pounds].
The list has [ ] open and [x] done items.
The temperature was -3 °C [27 °F] that night.
""".strip().splitlines()


def benign_sentences(count: int = 2000) -> list[str]:
    """*count* different sentences, those written by hand first."""
    rng = random.Random(20261128)
    found = dict.fromkeys(BY_HAND)
    for template in _forever():
        if len(found) == count:
            return list(found)
        found[template.format_map(_Filling(rng))] = None
    raise AssertionError


def _forever() -> Iterator[str]:
    while True:
        yield from TEMPLATES


class _Filling(dict[str, str]):
    """Picks anew for each place of a template."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __missing__(self, key: str) -> str:
        return self._rng.choice(FILLINGS[key])


DISPUTE = JudgeRequest(
    context="He sent me https://www.gov.uk/evicting-tenants and https://www.gov.uk/guide?page=9. "
    "His number is 01632 960 123 and his address repairs@example.org.",
    query="Am I wrong?",
)


def rules_broken_by(sentence: str, nth: int) -> list[str]:
    """What *sentence* breaks in a summary that cites, a rationale, a paraphrase or a key point."""
    said = good_reply()["summary"]
    document = (
        good_reply(summary=f"{said} {sentence}"),
        good_reply(personas=personas(rationale=sentence)),
        good_reply(paraphrase=sentence),
        good_reply(personas=personas(key_points=["Write", sentence, "Wait"])),
    )[nth % 4]
    prompt = render_prompt(DISPUTE, REFERENCES[:2], DEFAULT_PERSONAS)
    checked = check_reply(ModelReply(json.dumps(document), "m"), prompt)
    assert checked.reply is not None, sentence
    return [defect.rule for defect in checked.asked_again]


def test_of_two_thousand_benign_sentences_none_is_hard_and_one_in_a_hundred_asked_again() -> None:
    sentences = benign_sentences()
    assert len(sentences) == 2000
    broken = {said: rules_broken_by(said, nth) for nth, said in enumerate(sentences)}
    asked = {said: rules for said, rules in broken.items() if rules}
    assert len(asked) <= 20, asked
