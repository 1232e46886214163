"""Each mistake in a sources file has an exact message with its line, its key and the fix."""

# ruff: noqa: E501 - one message a line

import pytest

from judge.errors import ConfigurationError
from judge.library.sources.catalog import parse_sources

MISTAKES = r"""
[domains.x]
title = 'a'
title = 'b'
=> line 3: title: is not valid TOML: Cannot overwrite a value

x = 1979-02-31
=> line 1, column 5: x: is not valid TOML: Invalid date or datetime

domains
=> line 1: is not valid TOML: Expected '=' after a key in a key/value pair

domains = [1, 2
=> line 1: domains: is not valid TOML: Unclosed array

x = “at work”
=> line 1, column 5: x: is not valid TOML: Invalid value; write a text in straight quotation marks

[domains.x.terms]
propriétaire = 3
=> line 2, column 7: propriétaire: is not valid TOML: Expected '=' after a key in a key/value pair; put a name with letters beyond a to z in quotation marks

domains = 3
=> line 1: domains: must be a table, as in [domains.tenancy] or { key = value }

[domains.x]
terms = { a = 'x' }
=> line 2: domains.x.terms.a: must be a number

[domains.x]
terms = { a = 99 }
=> line 2: domains.x.terms.a: must be at most 10.0

[domains.x]
terms = { '' = 3 }
=> line 2: domains.x.terms."": a term needs at least one letter or digit

[domains.x]
sources = [3]
=> line 2: domains.x.sources[1]: must be a table, as in [domains.tenancy] or { key = value }

[domains.x]
sources = [{ title = 'A' }]
=> line 2: domains.x.sources[1].url: is missing; add it

[retrieval]
references = 'x'
=> line 2: retrieval.references: must be a whole number

[retrieval]
references = 0
=> line 2: retrieval.references: must be at least 1

[retrieval]
max_word = 3
=> line 2: retrieval.max_word: unknown key; did you mean max_words?

[domains.x]
patterns = [{ zzz = 'a', weight = 2, regex = 'a' }]
=> line 2: domains.x.patterns[1].zzz: unknown key; valid are regex, weight

[country]
name = 'X'
date = 'x'
[domains.x]
=> line 3: country.date: unknown key; did you mean dates?

[domains.x]
title = ''
=> line 2: domains.x.title: must be one line of text

[domains.'a b']
=> line 1: domains."a b": must be at most 40 of a-z, 0-9, - and _, as in [domains.tenancy]

[domains.default]
=> line 1: domains.default: 'default' means that no domain was found; choose another name

[[domains.help.source]]
=> line 1: domains.help.source: unknown key; did you mean sources?

[domains.x]
sources = [{ url = 'x', title = 'A' }]
=> line 2: domains.x.sources[1].url: must be http or https, percent-encoded and without a user name, as in https://www.example.org/renting

[domains.x]
sources = [{ url = 'https://e.org', title = 'A', nations = ['mars'] }]
=> line 2: domains.x.sources[1].nations[1]: must be one of england, scotland, wales, northern-ireland

[domains.x]
sources = [{ url = 'https://e.org', title = 'A', selector = 'p[' }]
=> line 2: domains.x.sources[1].selector: must be a CSS selector, as in "main p", or left out

[retrieval]
contact = 'é'
[domains.x]
=> line 2: retrieval.contact: must be one line of plain ASCII, since it is sent as a header

[domains.x]
help = [{ title = 'A', url = 'https://e.org/', phone = '0800_1' }]
=> line 2: domains.x.help[1].phone: must have only letters, digits, spaces and + ( ) -, as in 0800 1111

[[personas]]
name = 'A'
brief = '<REFERENCES>'
[domains.x]
=> line 3: personas[1].brief: must hold no tag such as <REFERENCES>; those are the prompt's own

[[personas]]
name = 'A'
brief = ' '
[domains.x]
=> line 3: personas[1].brief: must be text that can be read

[[personas]]
name='A'
brief='x'
[[personas]]
name='A'
brief='y'
[domains.x]
=> line 5: personas[2].name: 'A' is number 1 of the list too; remove one

include = ['/etc/*.toml']
[domains.x]
=> line 1: include[1]: must be a path relative to this file, as in "domains/*.toml"

[[safety]]
help = []
[domains.x]
=> line 1: safety[1]: needs terms or patterns, or the name of a rule of the package (none here)

[[safety]]
name = 'nobody'
[domains.x]
=> line 1: safety[1]: needs terms or patterns, or the name of a rule of the package (none here)

[domains.x]
patterns = [{ regex = '(', weight = 2 }]
=> line 2: domains.x.patterns[1].regex: is no regular expression: missing ), unterminated subpattern at position 0

[domains.x]
patterns = [{ regex = '(a*)*', weight = 2 }]
=> line 2: domains.x.patterns[1].regex: matches the empty text; make at least one part of it required
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        parse_sources(text)
    return str(refused.value).removeprefix("The sources cannot be used:\n  ").split("\n  ")


def test_each_mistake_has_its_exact_message() -> None:
    for case in MISTAKES.strip().split("\n\n"):
        text, _, message = case.partition("\n=> ")
        assert mistakes(text) == [f"sources.toml, {message}"]


def test_address_that_cannot_be_fetched_is_refused() -> None:
    for url in (
        "https://e.org:0/", "https://e.org:99999/", "https://[", "https://bücher.example/",
        "https://e.org/a b", "https:///x", "https://me@e.org/", "https://e_x..org/",
    ):  # fmt: skip
        [told] = mistakes(f"[domains.x]\nsources = [{{ url = '{url}', title = 'A' }}]")
        assert "must be http or https, percent-encoded" in told


def test_all_mistakes_are_told_at_once_up_to_twenty() -> None:
    assert mistakes("") == [
        "sources.toml, line 1: domains: add at least one, as in [domains.tenancy]"
    ]
    assert len(mistakes("[domains.x]\ntitle = 3\nhelp = 3")) == 2
    told = mistakes("[domains.x.terms]\n" + "".join(f"t{n} = true\n" for n in range(100)))
    assert len(told) == 21
    assert told[-1] == "and 80 more"


def test_deep_nesting_and_long_numbers_are_refused() -> None:
    for text in ("[" * 3000, "9" * 5000):
        assert "sources.toml" in mistakes(f"x = {text}")[0]
