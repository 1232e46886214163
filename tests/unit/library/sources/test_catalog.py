import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import ConfigurationError
from judge.library.sources.catalog import parse_sources, read_vocabulary
from judge.library.sources.tables import PatternTable, included_files
from judge.types.references import RetrievalSettings, SourceSpec
from judge.types.replies import Persona
from judge.types.results import HelpLine
from judge.types.text_files import TextFile

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


def domains_or_refusal(text):
    try:
        return parse_sources(text).domains
    except ConfigurationError as error:
        return str(error)


def test_domain_is_read_with_terms_patterns_sources_and_examples():
    catalog = parse_sources(MINIMAL)

    (tenancy,) = catalog.domains
    assert (tenancy.name, tenancy.title) == ("tenancy", "Renting a home")
    assert tenancy.terms == (("landlord", 3.0), ("assured shorthold", 3.0))
    assert tenancy.patterns == (PatternTable(regex=r"\bsection (8|21)\b", weight=2.0),)
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
def test_any_valid_toml_is_read_or_refused_with_a_message(tables):
    text = "\n".join(
        "\n".join([head, *(f"{key} = {value}" for key, value in body.items())])
        for head, body in tables
    )
    assert domains_or_refusal(text)


MORE = TextFile("domains/faults.toml", "[domains.faults]\n[domains.faults.terms]\nfaulty = 3\n")


def test_included_files_add_their_domains():
    catalog = parse_sources("include = ['domains/*.toml']\n" + MINIMAL, MORE)

    assert [domain.name for domain in catalog.domains] == ["tenancy", "faults"]
    assert [domain.file for domain in catalog.domains] == ["sources.toml", "domains/faults.toml"]
    alone = parse_sources("include = ['domains/*.toml']\n" + MINIMAL).digest
    assert catalog.digest != alone != parse_sources(MINIMAL).digest
    assert parse_sources(MINIMAL).digest == parse_sources(MINIMAL).digest


def test_includes_have_their_line():
    assert included_files("# first\ninclude = [\n'a',\n'b', 3]\n") == (
        ("a", 3),
        ("b", 4),
    )
    assert included_files("include = 3") == included_files("include = [") == ()


def test_settings_may_be_in_only_one_file():
    with pytest.raises(ConfigurationError, match="more, line 1: retrieval: is in sources"):
        parse_sources(
            "[retrieval]\nttl_hours = 1\n" + MINIMAL, TextFile("more", "[retrieval]\nttl_hours = 2")
        )
    catalog = parse_sources(MINIMAL, TextFile("more", "[retrieval]\nttl_hours = 2"))
    assert catalog.retrieval.ttl_hours == 2


WORDS = """
version = 1
patterns = [{ regex = 'section 21', weight = 2 }]
[terms]
landlord = 3
"pub landlord" = 0
"""
RULES = """
version = 1
[[safety]]
name = "violence"
terms = ["hits me"]
harmless = ["hits me like a film"]
help = [{ title = "Refuge", url = "https://example.org/r" }]
[[safety]]
name = "control"
terms = ["locks me in"]
"""
VOCABULARY = read_vocabulary(
    {"tenancy": TextFile("tenancy.toml", WORDS)}, TextFile("safety.toml", RULES)
)


def known(text):
    return parse_sources(text, vocabulary=VOCABULARY)


def test_package_vocabulary_is_added_to_its_domain():
    tenancy, other = known("[domains.tenancy]\n[domains.other]").domains

    assert tenancy.vocabulary.terms == (("landlord", 3.0), ("pub landlord", 0.0))
    assert tenancy.vocabulary.file == "tenancy.toml"
    assert (tenancy.terms, tenancy.patterns) == ((), ())
    assert other.vocabulary.terms == ()


def test_package_vocabulary_can_be_switched_off():
    for text in (
        "[domains.tenancy]\nvocabulary = false",
        "vocabulary = false\n[domains.tenancy]",
    ):
        assert known(text).domains[0].vocabulary.terms == ()


def test_safety_rules_of_the_file_come_first_and_extend_a_package_rule_by_its_name():
    own = known("[domains.x]\n[[safety]]\nterms = ['shouts']")
    assert [rule.terms for rule in own.safety] == [("shouts",), ("hits me",), ("locks me in",)]

    first, second = known(
        "[domains.x]\n[[safety]]\nname = 'violence'\nterms = ['shouts']\n"
        "help = [{ title = 'Us', url = 'https://example.org/us' }]"
    ).safety
    assert (first.name, first.terms) == ("violence", ("hits me", "shouts"))
    assert first.help == (HelpLine("Us", "https://example.org/us"),)
    assert first.harmless == ("hits me like a film",)
    assert second.name == "control"


def test_package_rule_is_switched_off_by_its_name():
    off = "[domains.x]\n[[safety]]\nname = 'violence'\nvocabulary = false\n"

    assert [rule.name for rule in known(off).safety] == ["control"]
    replaced = known(off + "terms = ['b']").safety
    assert [rule.terms for rule in replaced] == [("b",), ("locks me in",)]


def test_invalid_vocabulary_is_refused_with_its_file_name():
    broken = TextFile("x.toml", "version = 2\n[terms]\na = 'b'")

    with pytest.raises(ConfigurationError, match=r"x\.toml, line 1: version: must be 1"):
        read_vocabulary({"x": broken}, TextFile("safety.toml", RULES))
