"""Checks on config/sources.toml; all other tests have sources of their own."""

from pathlib import Path

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.judging.catalog_check import check_catalog
from judge.judging.domains import detect_domain
from judge.library.dispute import read_dispute
from judge.library.sources.toml_lines import Places

FILE = Path(__file__).parents[3] / "config" / "sources.toml"
KNOWN = compile_knowledge(FILE.read_text(encoding="utf-8"))
DOMAINS = {domain.name: domain for domain in KNOWN.catalog.domains}


def detected(text):
    """The domains that *text* gets as a story and as a question."""
    disputes = (read_dispute(text, ""), read_dispute("", text))
    return {detect_domain(KNOWN.detector, dispute).domain for dispute in disputes}


def test_file_has_fewer_than_800_lines():
    # A page a line and no list of words; room for a dozen more subjects.
    assert len(FILE.read_text(encoding="utf-8").splitlines()) < 800


def test_file_has_the_three_main_domains_and_150_pages():
    assert {"parenting", "tenancy", "workplace"} <= set(DOMAINS)
    assert sum(len(domain.sources) for domain in DOMAINS.values()) >= 150


def test_catalog_check_finds_nothing():
    assert check_catalog(KNOWN.catalog, Places(())) == ()


@pytest.mark.parametrize("name", DOMAINS)
def test_examples_get_their_domain_and_counter_examples_do_not(name):
    assert [text for text in DOMAINS[name].examples if detected(text) != {name}] == []
    assert [text for text in DOMAINS[name].not_examples if name in detected(text)] == []


def test_refusals_and_safety_rules_have_help_lines():
    assert KNOWN.catalog.blocked_help
    assert all(rule.help for rule in KNOWN.catalog.safety)
