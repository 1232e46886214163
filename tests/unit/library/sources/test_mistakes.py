"""Each mistake in a sources file has an exact message with its line, its key and the fix."""

# ruff: noqa: E501 - one message a line

import pytest

from judge.errors import ConfigurationError
from judge.library.sources.catalog import parse_sources

MISTAKES = [
    (
        "[domains.x]\ntitle = 'a'\ntitle = 'b'",
        [
            "sources.toml, line 3: title: is not valid TOML: Cannot overwrite a value; this key stands twice; remove one"
        ],
    ),
    (
        "[domains.x]\n[domains.x]",
        [
            "sources.toml, line 2, column 11: is not valid TOML: Cannot declare ('domains', 'x') twice; this table stands twice; put their keys together"
        ],
    ),
    (
        "a = 'x\n",
        [
            'sources.toml, line 1: a: is not valid TOML: Expected "\'"; a quotation mark is missing where a text ends'
        ],
    ),
    (
        "[domains.x\n",
        [
            "sources.toml, line 1, column 11: is not valid TOML: Expected ']' at the end of a table declaration; write [domains.tenancy] or [[safety]]; other characters need quotation marks"
        ],
    ),
    (
        "x = 1979-02-31\n",
        [
            "sources.toml, line 1, column 5: x: is not valid TOML: Invalid date or datetime; correct it there"
        ],
    ),
    (
        "x = 1 2",
        [
            "sources.toml, line 1, column 7: x: is not valid TOML: Expected newline or end of document after a statement; write what follows on a line of its own; lines end with LF or CR LF"
        ],
    ),
    (
        "domains",
        [
            "sources.toml, line 1: is not valid TOML: Expected '=' after a key in a key/value pair; write key = value; a key with spaces needs quotation marks"
        ],
    ),
    (
        "= 3",
        [
            "sources.toml, line 1, column 1: is not valid TOML: Invalid statement; a line holds key = value, [table] or # a remark"
        ],
    ),
    (
        "domains = [1, 2",
        [
            "sources.toml, line 1: domains: is not valid TOML: Unclosed array; a comma or a closing bracket is missing before this place"
        ],
    ),
    (
        '[domains.x]\ntitle = "\\d"',
        [
            "sources.toml, line 2, column 12: title: is not valid TOML: Unescaped '\\' in a string; write \\\\ for a backslash, or put the text in 'single' quotation marks"
        ],
    ),
    (
        "x = {a = 1, a = 2}",
        [
            "sources.toml, line 1, column 18: x: is not valid TOML: Duplicate inline table key 'a'; this key stands twice; remove one"
        ],
    ),
    (
        "x = abc",
        [
            "sources.toml, line 1, column 5: x: is not valid TOML: Invalid value; text needs quotation marks, and a list before it its closing ]"
        ],
    ),
    (
        "x = “at work”",
        [
            'sources.toml, line 1, column 5: x: is not valid TOML: Invalid value; write straight quotation marks, "'
        ],
    ),
    (
        "x = nothing\n",
        [
            "sources.toml, line 1, column 5: x: is not valid TOML: Invalid value; text needs quotation marks, and a list before it its closing ]"
        ],
    ),
    (
        "[domains.x]\nmy title = 3",
        [
            "sources.toml, line 2, column 4: is not valid TOML: Expected '=' after a key in a key/value pair; write key = value; a key with spaces needs quotation marks"
        ],
    ),
    ("domains = 3", ["sources.toml, line 1: domains: must be a table, as in [domains.tenancy]"]),
    (
        "[domains]\nx = 3",
        ["sources.toml, line 2: domains.x: must be a table, as in [domains.tenancy]"],
    ),
    (
        "[domains.x]\nterms = 3",
        ["sources.toml, line 2: domains.x.terms: must be a table, as in { landlord = 3 }"],
    ),
    (
        "[domains.x]\nterms = { a = 'x' }",
        ["sources.toml, line 2: domains.x.terms.a: must be a number, without quotation marks"],
    ),
    (
        "[domains.x]\nsources = 3",
        [
            "sources.toml, line 2: domains.x.sources: must be a list, as in [ … ], or [[ … ]] for tables"
        ],
    ),
    (
        "[domains.x]\nsources = [3]",
        [
            "sources.toml, line 2: domains.x.sources[1]: must be a table, as in { url = …, title = … }"
        ],
    ),
    (
        "[domains.x]\nsources = [{ title = 'A' }]",
        ["sources.toml, line 2: domains.x.sources[1].url: is missing; add it"],
    ),
    (
        "[domains.x]\nhelp = ['x']",
        ["sources.toml, line 2: domains.x.help[1]: must be a table, as in { title = …, url = … }"],
    ),
    (
        "[domains.x]\nexamples = ['x']",
        ["sources.toml, line 2: domains.x.examples[1]: must be a table, as in { text = … }"],
    ),
    (
        "[domains.x]\npatterns = ['x']",
        [
            "sources.toml, line 2: domains.x.patterns[1]: must be a table, as in { regex = …, weight = … }"
        ],
    ),
    (
        "safety = 3",
        ["sources.toml, line 1: safety: must be a list, as in [ … ], or [[ … ]] for tables"],
    ),
    (
        "[[safety]]\nterms = 'x'",
        [
            "sources.toml, line 2: safety[1].terms: must be a list, as in [ … ], or [[ … ]] for tables"
        ],
    ),
    (
        "[[safety]]\nhelp = [3]\nterms = ['a']",
        ["sources.toml, line 2: safety[1].help[1]: must be a table, as in { title = …, url = … }"],
    ),
    (
        "[retrieval]\nreferences = 'x'",
        [
            "sources.toml, line 2: retrieval.references: must be a whole number, without quotation marks"
        ],
    ),
    (
        "[retrieval]\nreferences = 0",
        ["sources.toml, line 2: retrieval.references: should be greater than or equal to 1"],
    ),
    (
        "[retrieval]\nsources_per_domain = 3",
        ["sources.toml, line 2: retrieval.sources_per_domain: is called references now; rename it"],
    ),
    ("retrieval = 3", ["sources.toml, line 1: retrieval: must be a table, as in [retrieval]"]),
    (
        "[retrieval]\nttl = 3",
        [
            "sources.toml, line 2: retrieval.ttl: unknown key; valid are ttl_hours, references, passages_per_scope, max_words, fetch_timeout_s, failure_ttl_s, stale_days, contact"
        ],
    ),
    (
        "vocabulary = 'no'\n[domains.x]",
        ["sources.toml, line 1: vocabulary: must be true or false, without quotation marks"],
    ),
    (
        "personas = 3",
        ["sources.toml, line 1: personas: must be a list, as in [ … ], or [[ … ]] for tables"],
    ),
    (
        "personas = [3]",
        ["sources.toml, line 1: personas[1]: must be a table, as in { name = …, brief = … }"],
    ),
    ("[[personas]]\nname = 'A'", ["sources.toml, line 1: personas[1].brief: is missing; add it"]),
    (
        "include = 'x'",
        ["sources.toml, line 1: include: must be a list, as in [ … ], or [[ … ]] for tables"],
    ),
    ("blocked = []", ["sources.toml, line 1: blocked: must be a table, as in [blocked]"]),
    (
        "[domains.x]\ntitle = 3",
        ["sources.toml, line 2: domains.x.title: must be text in quotation marks"],
    ),
    (
        "[domains.'a b']\ntitle = 3",
        [
            'sources.toml, line 1: domains."a b": must be at most 40 of a-z, 0-9, - and _, as in [domains.tenancy]',
            'sources.toml, line 2: domains."a b".title: must be text in quotation marks',
        ],
    ),
    ("version = 2", ["sources.toml, line 1: version: unknown key; did you mean personas?"]),
    (
        "[domains.x.terms]\n'' = 3",
        ['sources.toml, line 2: domains.x.terms."": a term needs at least one letter or digit'],
    ),
    (
        "[domains.x]\nsources = [{ url = 'x', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must be http or https, as in https://www.gov.uk/private-renting"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org', title = 'A', nations = ['mars'] }]",
        [
            "sources.toml, line 2: domains.x.sources[1].nations[1]: must be one of england, scotland, wales, northern-ireland"
        ],
    ),
    (
        "[domains.x]\nnations = 3",
        [
            "sources.toml, line 2: domains.x.nations: unknown key; valid are title, vocabulary, patterns, terms, sources, examples, not_examples, help"
        ],
    ),
    (
        "[domains.x]\nexamples = [{}]",
        ["sources.toml, line 2: domains.x.examples[1].text: is missing; add it"],
    ),
    ("", ["sources.toml, line 1: domains: add at least one, as in [domains.tenancy]"]),
    (
        "[domains.x]\nterms = { a = 99 }",
        ["sources.toml, line 2: domains.x.terms.a: should be less than or equal to 10"],
    ),
    (
        "[[personas]]\nname='A'\nbrief='x'\n[[personas]]\nname='A'\nbrief='y'\n[domains.x]",
        ["sources.toml, line 5: personas[2].name: 'A' is number 1 of the list too; remove one"],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org:99999/', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and a port from 1 to 65535, as in https://a.example:80/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org:0/', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and a port from 1 to 65535, as in https://a.example:80/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://[', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and a port from 1 to 65535, as in https://a.example:80/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://bücher.example/', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have its host as it is sent, as in https://xn--bcher-kva.example/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org/a b', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have no spaces or special characters; percent-encode them"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org/ü', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have no spaces or special characters; percent-encode them"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https:///x', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and no user name, as in https://www.gov.uk/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://me@e.org/', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and no user name, as in https://www.gov.uk/"
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e_x..org/', title = 'A' }]",
        [
            "sources.toml, line 2: domains.x.sources[1].url: must have a host and no user name, as in https://www.gov.uk/"
        ],
    ),
    (
        "[retrieval]\ncontact = 'é'\n[domains.x]",
        [
            "sources.toml, line 2: retrieval.contact: must be one line of plain ASCII, since it is sent as a header",
        ],
    ),
    (
        "[domains.x]\nhelp = [{ title = 'A', url = 'https://e.org/', phone = '0800_1' }]",
        [
            "sources.toml, line 2: domains.x.help[1].phone: must have only letters, digits, spaces and + ( ) -, as in 0800 1111",
        ],
    ),
    (
        "[[personas]]\nname = 'A'\nbrief = '<REFERENCES>'\n[domains.x]",
        [
            "sources.toml, line 3: personas[1].brief: must hold no tag such as <REFERENCES>; those are the prompt's own",
        ],
    ),
    (
        "[[personas]]\nname = 'A'\nbrief = ' '\n[domains.x]",
        [
            "sources.toml, line 3: personas[1].brief: must be text that can be read",
        ],
    ),
    (
        "[domains.default]",
        [
            "sources.toml, line 1: domains.default: 'default' means that no domain was found; choose another name",
        ],
    ),
    (
        "[domains.x]\nsources = [{ url = 'https://e.org', title = 'A', selector = 'p[' }]",
        [
            'sources.toml, line 2: domains.x.sources[1].selector: must be a CSS selector, as in "main p", or left out',
        ],
    ),
    (
        "include = ['/etc/*.toml']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['~/a.toml']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['c:a.toml']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['**/a.toml']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['\\\\a.toml']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['']\n[domains.x]",
        [
            'sources.toml, line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"',
        ],
    ),
    (
        "include = ['a', 3]\n[domains.x]",
        [
            "sources.toml, line 1: include[2]: must be text in quotation marks",
        ],
    ),
    (
        "[domains.x]\ntitle = ''",
        [
            "sources.toml, line 2: domains.x.title: must be one line of text",
        ],
    ),
    (
        "[[safety]]\nhelp = []\n[domains.x]",
        [
            "sources.toml, line 1: safety[1]: needs terms or patterns; add at least one term",
        ],
    ),
    (
        "[[safety]]\nname = 'nobody'\n[domains.x]",
        [
            "sources.toml, line 1: safety[1]: needs terms or patterns, or the name of one of the package's rules (none here)",
        ],
    ),
    (
        "[domains.x]\npatterns = [{ regex = '(', weight = 2 }]",
        [
            "sources.toml, line 2: domains.x.patterns[1].regex: is no regular expression: missing ), unterminated subpattern at position 0",
        ],
    ),
    (
        "[domains.x]\npatterns = [{ regex = '(a*)*', weight = 2 }]",
        [
            "sources.toml, line 2: domains.x.patterns[1].regex: matches the empty text; make at least one part of it required",
        ],
    ),
]


@pytest.mark.parametrize(("text", "told"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistake_has_its_exact_message(text: str, told: list[str]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_sources(text)
    lines = str(refused.value).removeprefix("The sources cannot be used:\n  ").split("\n  ")
    assert lines == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#" * 1_048_577, "sources.toml has 1048577 characters; keep it under 1048576."),
        ("\nx = " + "[" * 3000, "sources.toml, line 2: nests brackets too deeply; keep lists and tables flat."),
        ("\nx = " + "9" * 4300, "sources.toml, line 2: 99999999999999999999…: is too long for a key or a number; shorten it."),
    ],
)  # fmt: skip
def test_unparsable_file_has_a_message_of_one_line(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_sources(text)
    assert str(refused.value) == told


def test_file_at_the_limit_is_read() -> None:
    assert parse_sources("[domains.x]\n" + "#" * (1_048_576 - 12)).domains
