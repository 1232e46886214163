"""The data files of the package are complete, and state how they were measured."""

import re

import pytest

from judge.judging.domains import term_words
from judge.library.sources.catalog import package_vocabulary
from judge.text.patterns import checked_regex

VOCABULARY = package_vocabulary()
SUBJECTS = sorted(VOCABULARY.subjects)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_term_is_listed_twice_in_its_subject(subject):
    words = [term_words(text) for text, _ in VOCABULARY.subjects[subject].terms]

    assert [some for some in words if words.count(some) > 1] == []


@pytest.mark.parametrize("file", VOCABULARY.files, ids=lambda file: file.name)
def test_each_file_begins_by_saying_how_it_was_measured(file):
    head, _, rest = file.text.partition("\nversion = 1\n")

    assert rest
    assert all(line.startswith("#") for line in head.strip().splitlines())
    assert "Weighed" in head or "Written" in head
    assert "measure" in head or "recall" in head


def test_every_safety_rule_has_a_name_and_a_help_line():
    rules = VOCABULARY.safety

    assert len({rule.name for rule in rules}) == len(rules) == 9
    assert all(rule.help for rule in rules)


def test_every_pattern_of_the_package_is_one_that_a_sources_file_may_have() -> None:
    """They are not checked when the package's files are read, since that takes seconds."""
    words = VOCABULARY.subjects.values()
    patterns = [pattern.regex for subject in words for pattern in subject.patterns]
    patterns += [p for rule in VOCABULARY.safety for p in (*rule.patterns, *rule.harmless)]
    assert len(patterns) > 300
    assert [checked_regex(pattern) for pattern in patterns] == patterns
    # RE2 knows no letters of other scripts, so that one with "é" would be tried on every text.
    assert not [pattern for pattern in patterns if re.search(r"[^\W\x00-\x7f]", pattern)]
