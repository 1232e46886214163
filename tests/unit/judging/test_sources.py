from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import ConfigurationError
from judge.judging.sources import MAX_CHARACTERS, MAX_PROBLEMS, Pattern, parse_sources
from judge.types.judgements import HelpLine, Persona, RetrievalSettings, SourceSpec

MINIMAL = """
[domains.tenancy]
title = "Renting a home"
patterns = [{ regex = "\\\\bsection (8|21)\\\\b", weight = 2 }]
[domains.tenancy.terms]
landlord = 3
"assured shorthold" = 3
[[domains.tenancy.sources]]
url = "https://example.org/repairs"
title = "Repairs"
topics = ["repairs", "boiler"]
nations = ["England", "Northern Ireland"]
selector = " main p "
[[domains.tenancy.examples]]
text = "My landlord won't fix the boiler"
"""


def refusal(text):
    with pytest.raises(ConfigurationError) as refused:
        parse_sources(text)
    return str(refused.value)


def is_read_or_refused(text):
    try:
        domains = parse_sources(text).domains
    except ConfigurationError as error:
        domains = str(error)
    assert domains


def test_the_shape_of_the_interface_is_read_whole():
    catalog = parse_sources(MINIMAL)

    (tenancy,) = catalog.domains
    assert (tenancy.name, tenancy.title) == ("tenancy", "Renting a home")
    assert tenancy.terms == (("landlord", 3.0), ("assured shorthold", 3.0))
    assert tenancy.patterns == (Pattern(r"\bsection (8|21)\b", 2.0),)
    assert tenancy.examples == ("My landlord won't fix the boiler",)
    assert tenancy.sources == (
        SourceSpec(
            url="https://example.org/repairs",
            title="Repairs",
            topics=("repairs", "boiler"),
            nations=("england", "northern-ireland"),
            selector="main p",
        ),
    )


def test_what_is_left_out_has_the_documented_defaults():
    catalog = parse_sources("[domains.faulty_goods]")

    assert catalog.retrieval == RetrievalSettings()
    assert (catalog.safety, catalog.blocked_help, catalog.personas) == ((), (), ())
    assert catalog.domains[0].title == "Faulty goods"


def test_retrieval_help_safety_and_personas_are_read():
    catalog = parse_sources(
        MINIMAL
        + """
        [retrieval]
        ttl_hours = 1
        contact = "ops@example.org"
        [blocked]
        help = [{ title = "Samaritans", url = "https://example.org/s", phone = "116 123" }]
        [[personas]]
        name = "Coach"
        brief = "Looks ahead."
        [[safety]]
        terms = ["hits me"]
        patterns = ["hit(?:s|ting)? (?:me|her)"]
        help = [{ title = "Refuge", url = "https://example.org/r" }]
        """
    )

    assert catalog.retrieval == RetrievalSettings(ttl_hours=1, contact="ops@example.org")
    assert catalog.blocked_help == (HelpLine("Samaritans", "https://example.org/s", "116 123"),)
    assert catalog.personas == (Persona("Coach", "Looks ahead."),)
    assert catalog.safety[0].terms == ("hits me",)
    assert catalog.safety[0].patterns == ("hit(?:s|ting)? (?:me|her)",)
    assert catalog.safety[0].help == (HelpLine("Refuge", "https://example.org/r"),)


def test_digest_changes_with_the_text_and_only_with_it():
    assert parse_sources(MINIMAL).digest == parse_sources(MINIMAL).digest
    assert parse_sources(MINIMAL).digest != parse_sources(MINIMAL + "# a comment").digest


@pytest.mark.parametrize(
    ("old", "new", "key_and_fix"),
    [
        ("https://", "ftp://", "domains.tenancy.sources[0].url: must be http or https"),
        ("https://example.org", "https:///", "sources[0].url: must have a host"),
        ("https://", "https://me:secret@", "sources[0].url: must have a host and no user"),
        ("org/repairs", "org/re pairs", "sources[0].url: must have no spaces"),
        ("org/repairs", "org:99999/", "sources[0].url: Port out of range"),
        ("topics", "topcis", "sources[0].topcis: unknown key; did you mean topics?"),
        (
            "[domains.tenancy]",
            "[domains.x]\npatterns = 1\n[domains.tenancy]",
            "domains.x.patterns: ",
        ),
        ("patterns =", "patern =", "domains.tenancy.patern: unknown key; did you mean patterns?"),
        ("regex", "zzz", "patterns[0].zzz: unknown key; valid are regex, weight"),
        ("weight = 2", "weigth = 2", "domains.tenancy.patterns[0].weight: is missing; add it"),
        ("text =", "txt =", "domains.tenancy.examples[0].txt: unknown key; did you mean text?"),
        ('"England"', '"Cornwall"', "nations[0]: must be one of england, scotland, wales"),
        ('"England"', "7", "nations[0]: must be one of england"),
        ("landlord = 3", 'landlord = "3"', "domains.tenancy.terms.landlord: should be a valid nu"),
        ("landlord = 3", "landlord = true", "domains.tenancy.terms.landlord: should be a valid"),
        ("landlord = 3", "landlord = nan", "terms.landlord: should be a finite number"),
        ("landlord = 3", "landlord = 99", "terms.landlord: should be less than or equal to 10"),
        ("landlord = 3", '"-!" = 3', 'domains.tenancy.terms."-!": a term needs at least one'),
        ('"Renting a home"', '" "', "domains.tenancy.title: must be one line of text"),
        ('"Renting a home"', '"a\\nb"', "domains.tenancy.title: must be one line of text"),
        ("domains.tenancy", "domains.Tenancy", "domains.Tenancy: must be at most 40 of a-z"),
        ("domains.tenancy", "domains.default", "means that no domain was found; choose another"),
        ("[domains.tenancy]", "[retreival]\n[domains.tenancy]", "retreival: unknown key; did you"),
        (
            "[domains.tenancy]",
            "[retrieval]\nmax_word = 1\n[domains.tenancy]",
            "retrieval.max_word: unknown key; did you mean max_words?",
        ),
        (
            "[domains.tenancy]",
            "[retrieval]\nttl_hours = 0\n[domains.tenancy]",
            "retrieval.ttl_hours: should be greater than 0",
        ),
        (
            "[domains.tenancy]",
            '[retrieval]\ncontact = "a\\r\\nX: y"\n[domains.tenancy]',
            "retrieval.contact: must be one line of plain ASCII",
        ),
        (
            "[domains.tenancy]",
            "[[safety]]\nhelp = []\n[domains.tenancy]",
            "safety[0]: needs terms or patterns; add at least one term",
        ),
        (
            "[domains.tenancy]",
            '[[safety]]\nterms = ["a"]\nhelp = [{ titel = "b" }]\n[domains.tenancy]',
            "safety[0].help[0].titel: unknown key; did you mean title?",
        ),
        (
            "[domains.tenancy]",
            '[[personas]]\nname = "A"\nbrief = "b"\n' * 2 + "[domains.tenancy]",
            "personas: has the name 'A' twice; remove one",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_key_and_the_fix(old, new, key_and_fix):
    assert key_and_fix in refusal(MINIMAL.replace(old, new))


def test_a_page_stands_only_once_in_a_domain():
    page = '[[domains.x.sources]]\nurl = "https://example.org/a"\ntitle = "T"\n'

    assert "domains.x.sources: has the url 'https://example.org/a' twice" in refusal(page * 2)


def test_a_syntax_error_gives_its_line():
    assert "at line 3" in refusal("[domains.tenancy]\n\ntitle = \n")


def test_a_file_without_domains_is_refused():
    assert "domains: is missing; add it" in refusal("")
    assert "domains: needs at least one domain" in refusal("[domains]")
    assert "domains: must be a table" in refusal("domains = 3")
    assert "domains.tenancy: must be a table" in refusal("[domains]\ntenancy = 3")


def test_all_mistakes_are_told_at_once():
    message = refusal(MINIMAL.replace("https", "ftp").replace("topics", "topcis"))

    assert "url: must be" in message
    assert "topcis: unknown" in message


def test_a_hundred_mistakes_are_cut_short():
    message = refusal("[domains.x.terms]\n" + "".join(f"t{n} = true\n" for n in range(100)))

    assert f"and {100 - MAX_PROBLEMS} more" in message
    assert len(message.splitlines()) == MAX_PROBLEMS + 2


def test_a_domain_may_be_named_like_a_table():
    message = refusal("[[domains.help.source]]")

    assert "domains.help.source: unknown key; did you mean sources?" in message


def test_an_endless_file_is_refused():
    assert "keep it under" in refusal("#" * (MAX_CHARACTERS + 1))


def test_deep_nesting_is_refused():
    assert "keep lists and tables flat" in refusal("a = " + "[" * 100_000)


def test_a_pattern_that_could_be_slow_is_refused_with_its_key():
    message = refusal("[domains.x]\npatterns = [{ regex = '(a+)+b', weight = 1 }]")

    assert "domains.x.patterns[0].regex: could be slow on some texts" in message
    too_long = "[domains.x]\npatterns = [{ regex = '" + "a" * 301 + "', weight = 1 }]"
    assert "at most 300 characters" in refusal(too_long)


@given(st.text(max_size=300))
def test_garbage_is_refused_kindly(text):
    is_read_or_refused(text)


VALUES = st.recursive(
    st.one_of(
        st.booleans().map(lambda value: str(value).lower()),
        st.integers(-5, 2000).map(str),
        st.sampled_from(["nan", "inf", "1.5", "2026-11-21", "'https://example.org/'", "'england'"]),
        st.text("ab(+*?|[{}\\0, .é", max_size=12).map(lambda value: "'" + value + "'"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(st.sampled_from(["regex", "weight", "url", "title", "help"]), inner).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)
TABLES = st.sampled_from(
    "[retrieval] [blocked] [[personas]] [[safety]] [domains] [domains.x] [domains.x.terms] "
    "[[domains.x.sources]] [[domains.x.examples]] [[domains.x.patterns]]".split()
)
KEYS = st.sampled_from(
    "ttl_hours contact help name brief terms patterns title landlord url topics nations text "
    "regex weight x default 'a-b'".split()
)


@given(st.lists(st.tuples(TABLES, st.dictionaries(KEYS, VALUES, max_size=3)), max_size=4))
def test_well_formed_nonsense_is_refused_or_read(tables):
    text = "\n".join(
        "\n".join([head, *(f"{key} = {value}" for key, value in body.items())])
        for head, body in tables
    )
    is_read_or_refused(text)


def test_the_file_we_ship_is_valid():
    text = (Path(__file__).parents[3] / "config" / "sources.toml").read_text(encoding="utf-8")
    catalog = parse_sources(text)

    names = ["parenting", "tenancy", "workplace", "consumer", "health", "equality"]
    assert [domain.name for domain in catalog.domains] == names
    assert [persona.name for persona in catalog.personas] == ["Therapist", "Analyst", "Coach"]
    assert all(len(domain.sources) >= 3 for domain in catalog.domains)
    assert all(len(domain.examples) >= 5 for domain in catalog.domains)
    urls = [source.url for domain in catalog.domains for source in domain.sources]
    assert all(url.startswith("https://") for url in urls)
    assert catalog.blocked_help
    assert all(rule.help for rule in catalog.safety)
