"""Each setting in force has the file and line where it is written."""

from judge.bootstrap.sources import compile_knowledge
from judge.judging.effective_sources import BUILT_IN, EffectiveSources, FilePlace, effective_sources
from judge.types.text_files import TextFile

MAIN = TextFile(
    "sources.toml",
    """vocabulary = false
include = ["more.toml"]
[retrieval]
max_words = 60
[blocked]
help = [
  { title = "Shelter", url = "https://example.org/shelter" },
  { title = "Samaritans", url = "https://example.org/samaritans" },
]
[domains.tenancy]
title = "Renting"
patterns = [
  { regex = 'room', weight = 1 },
  { regex = 'flat', weight = -2 },
]
sources = [
  { url = "https://example.org/a", title = "A" },
  { url = "https://example.org/b", title = "B" },
]
help = [
  { title = "Crisis", url = "https://example.org/crisis" },
]
examples = [
  { text = "The landlord took it" },
]
not_examples = [
  { text = "A pub landlord" },
  { text = "A landlord in a play" },
]
[domains.tenancy.terms]
landlord = 3
rent = 1
"pub quiz" = -4
[[personas]]
name = "Judge"
brief = "You weigh both sides."
[[personas]]
name = "Aunt"
brief = "You are kind."
""",
)
MORE = TextFile("more.toml", "\n[domains.pets.terms]\ndog = 3\n")


def told(*files: TextFile) -> EffectiveSources:
    return effective_sources(compile_knowledge(*files), files)


def test_each_setting_has_the_line_where_it_is_written():
    found = told(MAIN, MORE)
    tenancy = found.domains[0]
    places = [
        *((one.line.title, one.place) for one in (*found.blocked_help, *tenancy.help)),
        *((one.persona.name, one.place) for one in found.personas),
        *((one.text, one.place) for one in (*tenancy.terms, *tenancy.patterns)),
        *((one.source.url, one.place) for one in tenancy.pages),
        *((one.text, one.place) for one in (*tenancy.examples, *tenancy.not_examples)),
    ]
    lines = MAIN.text.splitlines()
    for text, place in places:
        assert place.file == "sources.toml"
        assert text in " ".join(lines[place.line - 1 : place.line + 1])
    assert len({place for _, place in places}) == len(places) == 15


def test_domains_have_their_titles_and_places():
    assert [(one.name, one.title, str(one.place)) for one in told(MAIN, MORE).domains] == [
        ("tenancy", "Renting", "sources.toml:10"),
        ("pets", "Pets", "more.toml:2"),
    ]


def test_terms_are_ordered_by_absolute_weight():
    terms = told(MAIN, MORE).domains[0].terms
    assert [(one.text, one.weight, one.overruled) for one in terms] == [
        ("pub quiz", -4, None),
        ("landlord", 3, None),
        ("rent", 1, None),
    ]
    patterns = told(MAIN, MORE).domains[0].patterns
    assert [(one.text, one.weight) for one in patterns] == [("room", 1), ("flat", -2)]


def test_unset_settings_are_built_in():
    found = told(MAIN, MORE)
    assert {one.key: str(one.place) for one in found.retrieval if one.place.line} == {
        "max_words": "sources.toml:4"
    }
    assert {one.place for one in found.retrieval if not one.place.line} == {FilePlace(BUILT_IN)}
    assert {one.place for one in told(MORE).personas} == {FilePlace(BUILT_IN)}
    assert len(told(MORE).personas) == 3


def test_place_of_a_whole_file_has_no_line():
    assert (str(FilePlace("a.toml")), str(FilePlace("a.toml", 3))) == ("a.toml", "a.toml:3")
