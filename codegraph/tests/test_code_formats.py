"""Results as JSON, text and Mermaid diagrams, and how modules and newer syntax are read."""

import json

import pytest
from codegraph.models import CodeSnippet, SnippetLocation, Staleness, WhereUsedItem, WhereUsedResult
from codegraph.module_index import ModuleIndex
from codegraph.python_api import tool_rag_lineage, tool_rag_search, tool_rag_where_used
from codegraph.query.formats import as_json, as_mermaid, as_text
from codegraph.read.languages import language_of, read_facts


def test_json_has_the_promised_keys(built_seed):
    result = json.loads(json.dumps(as_json(tool_rag_where_used("target_symbol", built_seed))))

    assert result["source"] == "RAG_GRAPH"
    assert result["freshness_state"] == "FRESH"
    assert "staleness" not in result
    assert result["items"][1] == {
        "file": "module_b.py",
        "line": 5,
        "kind": "calls",
        "confidence": "exact",
        "snippet": {
            "text": "\n\ndef use():\n    return target_symbol()"[1:],
            "location": {"path": "module_b.py", "start_line": 3, "end_line": 5},
        },
        "enclosing": "module_b.use",
        "through": None,
    }


def test_text_shows_each_use_under_its_kind(built_seed):
    text = as_text(tool_rag_where_used("target_symbol", built_seed))

    assert text.splitlines() == [
        "definition:",
        "  module_a.py:1: def target_symbol():",
        "calls:",
        "  module_b.py:5: return target_symbol()",
        "imports:",
        "  module_b.py:1: from module_a import target_symbol",
    ]


def test_text_says_that_there_is_more_and_what_is_stale(built_seed):
    (built_seed / "module_c.py").write_text("")

    text = as_text(tool_rag_where_used("target_symbol", built_seed, 1))

    assert "There is more; raise the limit to see it." in text
    assert "The graph is stale: module_c.py" in text


def test_text_shows_possible_uses_separately_with_their_count(built):
    root = built("--- a.py\nclass A:\n    def m(self): ...\ndef g(x):\n    x.m()\n")
    text = as_text(tool_rag_where_used("A.m", root, with_possible=True))

    assert "possible:\n  a.py:4: x.m()\n1 use on receivers of unknown" in text


def test_text_of_a_search_marks_the_matching_lines(built_seed):
    text = as_text(tool_rag_search("return 1", built_seed))

    assert text == "module_a.py:1- def target_symbol():\nmodule_a.py:2:     return 1\n--"


def test_text_of_a_lineage_is_indented_by_depth(built_seed):
    assert as_text(tool_rag_lineage("target_symbol", "down", built_seed)) == (
        "module_b.use  (calls, module_b.py:5)"
    )


@pytest.mark.parametrize(("symbol", "direction"), [("target_symbol", "down"), ("use", "up")])
def test_arrows_point_from_the_user_to_the_used_symbol(built_seed, symbol, direction):
    picture = as_mermaid(tool_rag_lineage(symbol, direction, built_seed)).splitlines()

    names = dict(line.strip().split('["') for line in picture if '["' in line)
    ids = {name.rstrip('"]'): identity for identity, name in names.items()}
    assert picture[0] == "flowchart LR"
    assert f"    {ids['module_b.use']} --> {ids['module_a.target_symbol']}" in picture


def test_names_are_escaped_in_a_mermaid_diagram():
    snippet = CodeSnippet("", SnippetLocation('x"]<b>.md', 1, 1))
    item = WhereUsedItem('x"]<b>.md', 9, "mention", "text", snippet, None)
    why = Staleness(reason="why")
    result = WhereUsedResult("f", "a.f", (item,), False, {}, 1, 0, "UNKNOWN", why)

    picture = as_mermaid(result)

    assert '["x#quot;]#lt;b>.md"]' in picture
    assert "n1 --> n0" in picture
    assert "The graph is unknown: why" in as_text(result)
    assert '  x"]<b>.md:9: ' in as_text(result)


def test_language_is_determined_by_the_file_extension():
    names = [language_of(p) for p in ("a/b.PY", "x.ts", "Makefile")]
    assert names == ["python", "typescript", "text"]
    assert read_facts("go", "package main") is None


def test_modules_are_named_from_their_package_or_source_root():
    modules = ModuleIndex(["src/p/__init__.py", "src/p/a.py", "lib/n/b.py", "s.py", "__init__.py"])

    assert modules.names == {
        "__init__.py": "__init__",
        "lib/n/b.py": "n.b",
        "s.py": "s",
        "src/p/__init__.py": "p",
        "src/p/a.py": "p.a",
    }
    assert modules.is_namespace("n", "s.py")
    assert modules.absolute("src/p/a.py", 1, "x") == "p.x"
    assert modules.absolute("src/p/__init__.py", 1, "") == "p"
    assert modules.absolute("src/p/a.py", 9, "x") == "x"
    assert modules.find("nowhere", "s.py") is None
