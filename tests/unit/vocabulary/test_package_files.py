"""The data files of the package are complete, and state how they were measured."""

import pytest

from judge.judging.domains import term_words
from judge.library.sources.catalog import Vocabulary
from judge.vocabulary.package_files import safety_file, subject_files

VOCABULARY = Vocabulary(subject_files(), safety_file())
SUBJECTS = sorted(subject_files())


def test_the_subjects_of_the_interface_have_words():
    assert {"parenting", "tenancy", "workplace", "consumer", "health"} <= set(SUBJECTS)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_term_is_listed_twice_in_its_subject(subject):
    words = [term_words(text) for text, _ in VOCABULARY.words(subject).terms]

    assert [some for some in words if words.count(some) > 1] == []


@pytest.mark.parametrize("name", [*SUBJECTS, "safety"])
def test_each_file_begins_by_saying_how_it_was_measured(name):
    file = safety_file() if name == "safety" else subject_files()[name]
    head, _, rest = file.text.partition("\nversion = 1\n")

    assert rest
    assert all(line.startswith("#") for line in head.strip().splitlines())
    assert "Weighed" in head or "Written" in head
    assert "measure" in head or "recall" in head


def test_unknown_subject_has_no_words():
    assert VOCABULARY.words("juggling").terms == ()


def test_every_safety_rule_has_a_name_and_a_help_line():
    rules = VOCABULARY.safety()

    assert len({rule.name for rule in rules}) == len(rules) == 9
    assert all(rule.help for rule in rules)
