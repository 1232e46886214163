"""The queries through their public functions, on repositories of two or three files."""

import os
from functools import partial
from pathlib import Path

import msgspec
import pytest
from codegraph.errors import (
    AmbiguousSymbol,
    BadDirection,
    BadPattern,
    BadRepository,
    UnknownSymbol,
)
from codegraph.models import CodeSnippet, SnippetLocation
from codegraph.python_api import (
    CodeGraph,
    build_graph_for_repo,
    tool_rag_lineage,
    tool_rag_search,
    tool_rag_where_used,
)
from hypothesis import given
from hypothesis import strategies as st


def graph_of(root: Path) -> dict:
    return msgspec.json.decode((root / ".judge/rag_graph.json").read_bytes())


# --- the seed's scenario --------------------------------------------------------------------


@pytest.mark.parametrize(("word", "direction"), [("UP", "upstream"), ("callers", "downstream")])
def test_lineage_normalises_the_direction(built_seed, word, direction):
    symbol = "use" if direction == "upstream" else "target_symbol"

    result = tool_rag_lineage(symbol, word, built_seed)

    assert result.direction == direction
    assert len(result.items) == 1


def test_missing_graph_is_an_error_with_the_command_that_builds_it(seed_repo):
    for ask in (tool_rag_search, tool_rag_where_used, partial(tool_rag_lineage, direction="up")):
        with pytest.raises(FileNotFoundError, match="judge code build-graph"):
            ask("x", repo_root=seed_repo)


# --- the artifact ---------------------------------------------------------------------------


def test_artifact_has_the_documented_shape(seed_repo):
    (seed_repo / "notes.md").write_text("about target_symbol\n")
    (seed_repo / "broken.py").write_text("def broken(:\n")
    build_graph_for_repo(seed_repo)

    graph = graph_of(seed_repo)

    assert graph["version"] == 4
    assert {file["path"]: (file["lang"], file["status"]) for file in graph["files"]} == {
        "broken.py": ("python", "syntax-error"),
        "module_a.py": ("python", "parsed"),
        "module_b.py": ("python", "parsed"),
        "notes.md": ("markdown", "text"),
    }
    assert [part["nodes"] for part in graph["graph"]] == [
        [
            ["module_a.py", "module_a", "module", [1, 2], 1],
            ["module_a.py:target_symbol", "module_a.target_symbol", "function", [1, 2], 1],
        ],
        [
            ["module_b.py", "module_b", "module", [1, 5], 1],
            ["module_b.py:use", "module_b.use", "function", [4, 5], 4],
        ],
    ]
    called = ["module_b.py:use", "module_a.py:target_symbol", "calls", 5, "exact", False]
    assert called in graph["graph"][1]["edges"]
    assert [part["aliases"] for part in graph["graph"]] == [{}, {}]
    assert all(
        set(file) == {"path", "lang", "hash", "size", "mtime_ns", "status"}
        for file in graph["files"]
    )


def test_second_build_reads_and_links_only_changed_files(seed_repo):
    first = build_graph_for_repo(seed_repo)
    (seed_repo / "module_b.py").write_text("from module_a import target_symbol\n")

    second = build_graph_for_repo(seed_repo)
    third = build_graph_for_repo(seed_repo)

    assert (first.read, first.linked) == (2, 2)
    assert (second.read, second.linked) == (1, 1)
    assert (third.read, third.linked) == (0, 0)


def test_files_that_looked_something_up_in_a_changed_file_are_linked_again(built):
    root = built("--- a.py\ndef f(): ...\n--- b.py\nfrom a import f\n--- c.py\nimport b\n")
    (root / "a.py").write_text("class f: ...\n")

    report = build_graph_for_repo(root)

    assert (report.read, report.linked) == (1, 2)


def test_old_files_are_trusted_by_size_and_time(seed_repo):
    (seed_repo / "notes.txt").write_text("x")
    for path in seed_repo.iterdir():
        os.utime(path, (1, 1))
    build_graph_for_repo(seed_repo)
    (seed_repo / "module_a.py").write_text("".join(reversed("def target_symbol(): ...")))
    text = (seed_repo / "module_b.py").read_text()
    (seed_repo / "module_b.py").write_text(text.replace("target", "TARGET"))
    os.utime(seed_repo / "module_b.py", (1, 1))

    report = build_graph_for_repo(seed_repo)

    assert (report.read, report.unparsed) == (1, ("module_a.py",))
    assert tool_rag_search("TARGET", seed_repo).freshness_state == "FRESH"


def test_damaged_stored_facts_are_rebuilt(built_seed):
    (built_seed / ".judge/rag_facts.msgpack").write_bytes(b"\xc1 broken")

    assert build_graph_for_repo(built_seed).linked == 2


def test_progress_counts_up_to_the_end(seed_repo):
    seen = []

    build_graph_for_repo(seed_repo, on_progress=lambda done, total: seen.append((done, total)))

    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("content", [b"not json", b'{"version": 1}'])
def test_damaged_graph_is_an_error_and_can_be_rebuilt(seed_repo, content):
    (seed_repo / ".judge").mkdir()
    (seed_repo / ".judge/rag_graph.json").write_bytes(content)

    with pytest.raises(FileNotFoundError, match="build-graph"):
        tool_rag_search("x", seed_repo)
    assert build_graph_for_repo(seed_repo).files == 2


def test_graph_of_another_version_is_refused(built_seed):
    target = built_seed / ".judge/rag_graph.json"
    target.write_bytes(target.read_bytes().replace(b'"version":4', b'"version":9', 1))

    with pytest.raises(FileNotFoundError, match=r"version 9.*build-graph"):
        tool_rag_search("x", built_seed)
    assert build_graph_for_repo(built_seed).files == 2
    assert tool_rag_search("x", built_seed).freshness_state == "FRESH"


# --- where-used -----------------------------------------------------------------------------


def test_uses_are_grouped_by_kind_after_the_definition(built):
    root = built(
        "--- a.py\nclass A: ...\nclass B(A): ...\nx = [A]\nA()\n__all__ = ['A']\n"
        "--- b.py\nfrom a import A\n--- notes.txt\nabout A and AB\n"
    )
    result = tool_rag_where_used("a.A", root)

    kinds = [item.kind for item in result.items]
    assert kinds == ["definition", "calls", "references", "inherits", "imports"]
    assert result.counts == dict.fromkeys(kinds[1:], 1)
    with_text = tool_rag_where_used("a.A", root, with_text=True)
    assert [(i.kind, i.confidence) for i in with_text.items][-2:] == [
        ("exports", "text"),
        ("mention", "text"),
    ]
    assert result.text_mentions == with_text.text_mentions == 2
    assert result.items[3].enclosing == "a.B"


def test_snippet_is_five_lines_around_the_use(built):
    root = built("--- a.py\ndef f(): ...\n1\n2\nf()\n3\n4\n5\n")
    snippet = tool_rag_where_used("f", root).items[1].snippet

    assert snippet == CodeSnippet("1\n2\nf()\n3\n4", SnippetLocation("a.py", 2, 6))


def test_uses_are_ordered_by_confidence(built):
    root = built(
        "--- a.py\n"
        "class A:\n    def m(self): ...\ndef f(): return A()\n__all__ = ['A', 'f']\n"
        "--- b.py\nfrom a import f as g\ng().m()\nprint(g, g.f)\n"
    )
    used = tool_rag_where_used("a.f", root).items
    method = tool_rag_where_used("A.m", root)

    assert [(i.file, i.line, i.kind, i.confidence) for i in used] == [
        ("a.py", 3, "definition", "exact"),
        ("b.py", 2, "calls", "exact"),
        ("b.py", 3, "references", "exact"),
        ("b.py", 1, "imports", "exact"),
    ]
    assert [(i.line, i.confidence) for i in method.items] == [(2, "exact"), (2, "inferred")]
    assert method.counts == {"calls": 1}


def test_missing_member_of_a_class_or_function_is_a_possible_use(repo):
    root = repo("""--- a.py
from lib import Base
class A:
    def m(self): ...
class Mixin:
    def f(self): self.m()
class Outer(Base):
    def f(self): self.m()
def make_a(function): return A()
@make_a
def g(): ...
g.m()
""")
    build_graph_for_repo(root)

    shown = tool_rag_where_used("A.m", root, with_possible=True)
    found = [(item.confidence, item.line) for item in shown.items[1:]]
    assert found == [("possible", 5), ("possible", 11)]


def test_ambiguous_name_is_an_error_with_the_candidates(built):
    root = built("--- a.py\nclass A:\n    def m(self): ...\nclass B:\n    def m(self): ...\n")
    with pytest.raises(AmbiguousSymbol) as caught:
        tool_rag_where_used("m", root)

    assert caught.value.candidates == ("a.A.m", "a.B.m")
    assert tool_rag_where_used("B.m", root).resolved == "a.B.m"


def test_module_and_its_function_of_the_same_name_are_distinguished(built):
    root = built("--- main.py\ndef main(): ...\nmain()\n")
    with pytest.raises(AmbiguousSymbol) as caught:
        tool_rag_where_used("main", root)

    found = {name: tool_rag_where_used(name, root).resolved for name in caught.value.candidates}
    assert found == {"main.main": "main.main", "main.py": "main"}


@pytest.mark.parametrize("name", ["caf\u00e9", "cafe\u0301", "\uff43af\u00e9"])
def test_name_is_found_in_every_unicode_form_that_python_normalises(built, name):
    root = built("--- a.py\ndef caf\u00e9(): ...\n")
    assert tool_rag_where_used(name, root).resolved == "a.caf\u00e9"


def test_file_is_read_in_its_declared_encoding(repo):
    root = repo("--- a.py\n")
    text = "# -*- coding: cp1251 -*-\ndef \u043f\u0443\u0442\u044c(): ...\n"
    (root / "a.py").write_bytes(text.encode("cp1251"))
    build_graph_for_repo(root)
    assert tool_rag_where_used("\u043f\u0443\u0442\u044c", root).items[0].line == 2


def test_file_whose_package_was_removed_gets_its_new_name(built):
    root = built("--- top/pkg/__init__.py\n--- top/pkg/a.py\ndef f(): ...\n--- b.py\nx = 1\n")
    assert tool_rag_where_used("f", root).resolved == "pkg.a.f"

    (root / "top/pkg/__init__.py").unlink()
    build_graph_for_repo(root)

    assert tool_rag_where_used("f", root).resolved == "top.pkg.a.f"


def test_symbol_is_found_by_its_alias_in_a_package(built):
    root = built(
        "--- pkg/__init__.py\nfrom ._a import (\n    _A as A,\n    b,\n)\n"
        "from ._a import _f as b2\n"
        "--- pkg/_a.py\nclass _A:\n    def m(self): ...\ndef b(): ...\ndef _f(): ...\n"
    )
    names = ("pkg.A.m", "pkg.A", "pkg.b", "pkg.b2")
    found = [tool_rag_where_used(name, root).resolved for name in names]
    assert found == ["pkg._a._A.m", "pkg._a._A", "pkg._a.b", "pkg._a._f"]
    with pytest.raises(UnknownSymbol):
        tool_rag_where_used("pkg._f2", root)


def test_stub_beside_its_module_is_not_a_candidate(built):
    root = built("--- a.py\ndef f(): ...\n--- a.pyi\ndef f() -> int: ...\n")
    assert tool_rag_where_used("f", root).items[0].file == "a.py"


def test_every_overload_is_a_definition(built):
    root = built(
        "--- a.py\nfrom typing import overload\n@overload\ndef f(x: int): ...\n"
        "@overload\ndef f(x: str): ...\ndef f(x): ...\nf(1)\n"
    )
    result = tool_rag_where_used("f", root)

    assert [item.line for item in result.items if item.kind == "definition"] == [3, 5, 6]


@pytest.mark.parametrize(("limit", "truncated"), [(1, True), (2, True), (3, False), (9, False)])
def test_where_used_is_truncated_only_if_there_is_more(built_seed, limit, truncated):
    result = tool_rag_where_used("target_symbol", built_seed, limit)

    assert len(result.items) == min(limit, 3)
    assert result.truncated is truncated


def test_language_without_a_reader_is_searched_as_text(built):
    root = built("--- a.py\ndef shared(): ...\n--- web/app.js\nshared();\nsharedness();\n")
    result = tool_rag_where_used("shared", root, with_text=True)

    assert [(i.file, i.line, i.confidence) for i in result.items[1:]] == [("web/app.js", 1, "text")]


def test_common_word_is_a_mention_only_if_written_as_code(built):
    root = built(
        "--- a.py\nclass URL:\n    def password(self): ...\n    def raw_path(self): ...\n"
        "--- notes.md\nYour password is safe.\nUse `password` or url.password here.\n"
        "password(x)\nthe raw_path of it\n"
    )
    common = tool_rag_where_used("URL.password", root, with_text=True)
    telling = tool_rag_where_used("URL.raw_path", root, with_text=True)

    assert [i.line for i in common.items[1:]] == [2, 3]
    assert [i.line for i in telling.items[1:]] == [4]
    assert [i.kind for i in tool_rag_where_used("URL.password", root).items] == ["definition"]


def test_module_is_mentioned_by_its_full_name_and_has_no_possible_uses(built):
    root = built(
        "--- pkg/__init__.py\n--- pkg/a.py\n--- b.py\nimport pkg.a\ndef f(x): x.a\n"
        "--- notes.txt\na\npkg.a\n"
    )
    result = tool_rag_where_used("pkg.a", root, with_text=True)

    found = [(i.file, i.line) for i in result.items]
    assert found == [("pkg/a.py", 1), ("b.py", 1), ("notes.txt", 2)]
    assert result.possible_count == 0


# --- lineage --------------------------------------------------------------------------------

CHAIN = """\
--- a.py
class Base:
    def m(self): ...
class Part(Base):
    def __init__(self):
        helper()
    def m(self):
        self.other()
    def other(self): ...
def helper():
    return top()
def top():
    def inner():
        return Part()
    return inner
top()
--- b.py
import a
"""


def test_upstream_is_breadth_first_with_paths_and_stops_at_cycles(built):
    root = built(CHAIN)
    result = tool_rag_lineage("top", "upstream", root)

    found = [(item.symbol, item.depth) for item in result.items]
    assert found == [("a.Part", 1), ("a.Base", 2), ("a.helper", 2)]
    assert result.items[2].path == ("a.top", "a.Part", "a.helper")
    assert (result.items[0].kind, result.items[0].line) == ("calls", 13)


def test_downstream_lists_the_dependents(built):
    root = built(CHAIN)
    result = tool_rag_lineage("Part.other", "downstream", root)

    assert [item.symbol for item in result.items] == ["a.Part.m"]
    deeper = tool_rag_lineage("helper", "downstream", root)
    found = [item.path[1:] for item in deeper.items]
    assert found[:2] == [("a.Part.__init__",), ("a.Part.__init__", "a.top.inner")], "Part() runs it"
    assert [path[-1] for path in found[2:]] == ["a.top", "a"]


def test_lineage_is_bounded_by_depth_and_limit(built):
    root = built(CHAIN)
    near = tool_rag_lineage("top", "up", root, depth=1)
    few = tool_rag_lineage("top", "up", root, 2)

    assert ([item.symbol for item in near.items], near.truncated) == (["a.Part"], False)
    assert (len(few.items), few.truncated) == (2, True)


def test_module_depends_on_its_imports(built):
    root = built(CHAIN)
    assert [i.symbol for i in tool_rag_lineage("b", "up", root).items] == ["a"]
    assert [i.symbol for i in tool_rag_lineage("a", "down", root).items] == ["b"]


DISPATCH = """\
--- a.py
class Base:
    def handle(self): ...
class Middle(Base): ...
class Leaf(Middle):
    def handle(self): ...
def run(route: Base):
    route.handle()
def main(leaf: Leaf):
    leaf.handle()
"""


def test_call_through_a_base_class_is_a_dispatch_use_of_overrides(built):
    root = built(DISPATCH)
    base = tool_rag_where_used("Base.handle", root)
    leaf = tool_rag_where_used("Leaf.handle", root)

    assert [(i.line, i.kind, i.confidence, i.through) for i in base.items[1:]] == [
        (7, "calls", "exact", None),
        (5, "overrides", "dispatch", None),
    ]
    assert [(i.line, i.kind, i.confidence, i.through) for i in leaf.items[1:]] == [
        (9, "calls", "exact", None),
        (7, "calls", "dispatch", "a.Base.handle"),
    ]


def test_inherited_member_is_found_by_the_name_of_the_subclass(built):
    root = built(DISPATCH)
    assert tool_rag_where_used("Middle.handle", root).resolved == "a.Base.handle"
    assert tool_rag_where_used("a.Middle.handle", root).resolved == "a.Base.handle"
    with pytest.raises(UnknownSymbol):
        tool_rag_where_used("Middle.absent", root)


NO_DISPATCH = """\
--- a.py
class Base:
    def handle(self): ...
class Leaf(Base):
    def handle(self):
        super().handle()
class Other(Base):
    def handle(self):
        Base.handle(self)
def run():
    Base().handle()
    base = Base()
    base.handle()
"""


def test_call_of_an_exact_class_does_not_reach_overrides(built):
    root = built(NO_DISPATCH)
    base = tool_rag_where_used("Base.handle", root)
    leaf = tool_rag_where_used("Leaf.handle", root)
    context = CodeGraph(root).context("Leaf.handle")
    feeds = {i.symbol for i in tool_rag_lineage("Leaf.handle", "up", root).items}

    assert [(i.line, i.kind) for i in base.items if i.confidence == "exact"] == [
        (2, "definition"),
        *((line, "calls") for line in (5, 8, 10, 12)),
    ]
    assert [i.line for i in leaf.items] == [4]
    assert not tool_rag_lineage("Leaf.handle", "down", root).items
    assert feeds == {"a.Base.handle"}
    assert [i.kind for i in context.items] == ["definition", "callee"]


def test_lineage_follows_a_call_through_a_base_class_to_overrides(built):
    root = built(DISPATCH)
    feeds = {i.symbol: i.confidence for i in tool_rag_lineage("run", "up", root).items}
    users = {i.symbol: i.confidence for i in tool_rag_lineage("Leaf.handle", "down", root).items}

    assert feeds["a.Base.handle"] == "exact"
    assert feeds["a.Leaf.handle"] == "dispatch"
    assert users == {"a.main": "exact", "a.run": "dispatch"}


# --- context --------------------------------------------------------------------------------

EDITED = """\
--- shop/cart.py
from shop.money import rounded


def total(prices):
    \"\"\"What all of it costs.\"\"\"
    return rounded(sum(prices))
--- shop/money.py
def rounded(amount):
    return round(amount, 2)
--- shop/till.py
from shop.cart import total


def pay(cart):
    return total(cart)
--- tests/test_cart.py
from shop.cart import total
from shop.till import pay


def test_total():
    assert total([1]) == 1


def test_pay():
    assert pay([1]) == 1
"""


def test_context_is_the_source_callers_callees_and_tests(built):
    root = built(EDITED)
    found = CodeGraph(root).context("total")

    assert [(i.kind, i.symbol, i.line) for i in found.items] == [
        ("definition", "shop.cart.total", 4),
        ("caller", "shop.till.pay", 5),
        ("callee", "shop.money.rounded", 1),
        ("test", "tests.test_cart.test_total", 6),
        ("test", "tests.test_cart.test_pay", 10),
    ]
    assert found.docstring == "What all of it costs."
    assert found.items[0].snippet.text.endswith("return rounded(sum(prices))")
    assert "def pay(cart):" in found.items[1].snippet.text
    assert not found.truncated


@pytest.mark.parametrize(
    ("tokens", "kinds"),
    [(200, {"definition"}), (1000, {"definition", "caller", "callee"})],
)
def test_context_is_cut_to_its_tokens_and_truncated(built, tokens, kinds):
    long = "\n".join(f"    value_{n} = helper({n})" for n in range(300))
    calls = "\n".join(f"def caller_{n}(): return long()" for n in range(50))
    root = built(f"--- a.py\ndef helper(n): ...\ndef long():\n{long}\n{calls}\n")
    found = CodeGraph(root).context("long", tokens)

    assert found.truncated
    assert found.tokens <= tokens
    assert {i.kind for i in found.items} == kinds


def test_docstring_is_found_beside_unindented_text_and_invalid_escapes(built):
    root = built(
        '--- a.py\n"""Post."""\nclass A:\n    def m(self):\n        """Sends a letter: \\\\d."""\n'
        '        return """\nDear \\d,\n"""\n'
    )
    assert CodeGraph(root).context("A.m").docstring == "Sends a letter: \\d."
    assert CodeGraph(root).context("a").docstring == "Post."


def test_unknown_direction_is_refused_with_the_valid_ones(built_seed):
    with pytest.raises(BadDirection, match="upstream"):
        tool_rag_lineage("use", "sideways", built_seed)


# --- search ---------------------------------------------------------------------------------


def test_adjacent_matches_share_a_snippet_and_distant_ones_do_not(built):
    root = built("--- a.txt\nhit\n1\nhit\n" + "x\n" * 9 + "hit\n")
    result = tool_rag_search("hit", root)

    assert [item.lines for item in result.items] == [(1, 3), (13,)]
    assert result.items[0].snippet.text == "hit\n1\nhit\nx\nx"


def test_search_has_options_for_case_and_regular_expressions(built):
    root = built("--- a.txt\nOne\none two\n")
    assert [i.lines for i in tool_rag_search("one", root).items] == [(2,)]
    assert [i.lines for i in tool_rag_search("one", root, ignore_case=True).items] == [(1, 2)]
    assert [i.lines for i in tool_rag_search("^o.*two$", root, is_regex=True).items] == [(2,)]
    found = tool_rag_search("^O.*TWO$", root, is_regex=True, ignore_case=True)
    assert [i.lines for i in found.items] == [(2,)]
    assert tool_rag_search("o.e", root).items == ()


@pytest.mark.parametrize(
    ("pattern", "why"), [("(", "wrong"), ("a{99999999999}", "wrong"), ("*", "wrong"), ("", "empty")]
)
def test_invalid_query_is_refused(built_seed, pattern, why):
    with pytest.raises(BadPattern, match=why):
        tool_rag_search(pattern, built_seed, is_regex=True)


def test_slow_regex_is_stopped(built):
    root = built("--- a.txt\n" + "a" * 400 + "!\n")
    with pytest.raises(BadPattern, match="longer than 2 s"):
        tool_rag_search(r"^(a|aa)+$", root, is_regex=True)


def test_changed_added_and_deleted_files_are_named(built_seed):
    graph = CodeGraph(built_seed)
    graph.search("x")
    (built_seed / "module_a.py").write_text("def target_symbol(): ...\n")
    (built_seed / "module_b.py").unlink()
    (built_seed / "module_c.py").write_text("")

    result = graph.search("x")

    assert result.freshness_state == "STALE"
    assert result.staleness.changed == ("module_a.py",)
    assert result.staleness.added == ("module_c.py",)
    assert result.staleness.deleted == ("module_b.py",)


def test_graph_of_another_builder_is_stale(built_seed):
    target = built_seed / ".judge/rag_graph.json"
    target.write_bytes(target.read_bytes().replace(b'"builder":"4', b'"builder":"0', 1))

    result = tool_rag_search("x", built_seed)

    assert result.freshness_state == "STALE"
    assert "builder" in result.staleness.reason
    assert build_graph_for_repo(built_seed).files == 2
    assert tool_rag_search("x", built_seed).freshness_state == "FRESH"


def test_open_graph_notices_a_new_build(built_seed):
    graph = CodeGraph(built_seed)
    before = graph.where_used("target_symbol")
    (built_seed / "module_c.py").write_text("import module_a\nmodule_a.target_symbol()\n")
    build_graph_for_repo(built_seed)

    after = graph.where_used("target_symbol")

    assert (len(before.items), len(after.items)) == (3, 4)


@pytest.mark.parametrize("root", ["/nowhere/at/all", "a\0b", "x" * 5000, __file__])
def test_path_that_is_no_folder_is_refused(root):
    with pytest.raises(BadRepository):
        build_graph_for_repo(root)


# --- ranked search --------------------------------------------------------------------------

RANKED = """\
--- app/sessions.py
class SessionStore:
    def expire_old_sessions(self, now):
        for key in list(self.sessions):
            if self.sessions[key].ends < now:
                del self.sessions[key]
    def open_session(self, user):
        return Session(user)
--- app/mail.py
def send_mail(user, text):
    # a session is not needed here
    connect().send(user, text)
def getUserId(row):
    return row[0]
--- tests/test_sessions.py
def test_expire_old_sessions():
    assert expire_old_sessions(1)
--- notes.md
How old sessions expire: expire old sessions each night.
"""


OTHER_LANGUAGES = """\
--- server/router.go
package server

// Match tells which handler a path belongs to.
func (r *Router) Match(path string) Handler {
	return r.tree.find(path)
}

func (r *Router) Close() {
	r.tree = nil
}
--- lib/cache.js
exports.evictOldest = function (entries) {
  entries.shift()
}
const sizeOf = (entries) => {
  return entries.length
}
--- src/loop.c
int loop_start(loop_t *loop)
{
  return run(loop);
}
"""


@pytest.mark.parametrize(
    ("question", "file", "head"),
    [
        ("which handler belongs to a path", "server/router.go", "// Match tells"),
        ("evict the oldest entries", "lib/cache.js", "exports.evictOldest"),
        ("sizeOf", "lib/cache.js", "const sizeOf"),
        ("how is the loop started", "src/loop.c", "int loop_start"),
    ],
)
def test_definitions_of_languages_without_a_reader_are_ranked(built, question, file, head):
    root = built(OTHER_LANGUAGES)
    first = CodeGraph(root).rank(question).items[0]

    assert (first.file, first.kind) == (file, "definition")
    assert first.snippet.text.startswith(head)


def test_exact_name_ranks_its_definition_before_frequent_mentions(built):
    often = "".join(f"def open_store_{n}(store):\n    return Store(store)\n" for n in range(9))
    root = built(f"--- store/store.py\n{often}--- base.py\n{'x = 1' + chr(10)}class Store: ...\n")
    first = CodeGraph(root).rank("Store").items[0]

    assert (first.file, first.line) == ("base.py", 2)


def test_matches_of_several_files_come_before_all_of_one(built):
    many = "".join(f"def load_page_{n}(): ...\n" for n in range(8))
    root = built(f"--- a.py\n{many}--- b.py\ndef load_page_of(url): ...\n")
    found = CodeGraph(root).rank("load page").items

    assert "b.py" in [item.file for item in found[:4]]


def test_question_ranks_the_definition_before_tests_and_prose(built):
    root = built(RANKED)
    found = CodeGraph(root).rank("how do old sessions expire?").items

    kinds = [(i.file, i.kind) for i in found if i.file != "app/sessions.py"]
    assert found[0].file == "app/sessions.py"
    assert kinds[:2] == [("tests/test_sessions.py", "definition"), ("notes.md", "match")]
    assert found[0].snippet.text.startswith("    def expire_old_sessions")


@pytest.mark.parametrize(
    "question", ["user id", "userId", "user_ids", "GET_USER_ID", "getUserId()"]
)
def test_identifiers_are_found_by_their_parts(built, question):
    root = built(RANKED)
    found = CodeGraph(root).rank(question)

    assert "getUserId" in found.items[0].snippet.text
    assert CodeGraph(root).rank(question, 1).truncated


@pytest.mark.parametrize("question", ["zebra", "?!", "the"])
def test_question_without_a_match_finds_nothing(built, question):
    root = built("--- a.py\ndef f(): ...\n")
    assert CodeGraph(root).rank(question).items == ()


@given(question=st.text(max_size=60))
def test_any_question_is_answered_or_refused(tmp_path_factory, question):
    root = tmp_path_factory.mktemp("ranked")
    (root / "a.py").write_text("def f(): ...\n")
    build_graph_for_repo(root)

    try:
        assert len(CodeGraph(root).rank(question, 5).items) <= 5
    except BadPattern:
        assert not question.strip()
