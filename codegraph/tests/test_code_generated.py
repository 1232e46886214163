"""Generated programs: every use is found, a rebuild equals a new build, and time is bounded."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from codegraph.python_api import CodeGraph, build_graph_for_repo, tool_rag_where_used
from codegraph.read.languages import read_facts
from codegraph.store.repository import FACTS_NAME, GRAPH_NAME
from hypothesis import given
from hypothesis import strategies as st

NAMES = ["alpha", "beta", "gamma"]

#: How a module imports another module's function, and how it then calls it.
REACHES = [
    ("from {module} import {name}", "{name}()"),
    ("from {module} import {name} as renamed", "renamed()"),
    ("import {module}", "{module}.{name}()"),
    ("import {module} as renamed", "renamed.{name}()"),
    ("from {module} import *", "{name}()"),
]
#: Where the call is; every marked line has it once.
PLACES = [
    "{call}  # use",
    "def f():\n    return {call}  # use",
    "class C:\n    value = {call}  # use",
    "class D:\n    def m(self):\n        return [{call} for _ in ()]  # use",
    "if 1:\n    {call}  # use\nelse:\n    print({call})  # use",
    "for _ in ():\n    {call}  # use",
    "async def g():\n    async with {call} as x:  # use\n        return x",
    "def h(x={call}):  # use\n    return lambda: {call}  # use",
    "try:\n    {call}  # use\nexcept ValueError:\n    raise\nfinally:\n    {call}  # use",
]


@st.composite
def programs(draw) -> tuple[dict[str, str], str]:
    """Files by path, and the function whose uses are marked in them."""
    name = draw(st.sampled_from(NAMES))
    others = [n for n in NAMES if n != name]
    home = draw(st.sampled_from(["home", "pkg.home"]))
    files = {"pkg/__init__.py": "", "home.py": "", "pkg/home.py": ""}
    definitions = "\n".join(f"def {n}(): ..." for n in draw(st.permutations([name, *others])))
    files[home.replace(".", "/") + ".py"] = definitions + "\n"
    for number in range(draw(st.integers(1, 3))):
        start, call = draw(st.sampled_from(REACHES))
        places = draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3))
        called = call.format(module=home, name=name)
        body = "\n".join(place.format(call=called) for place in places)
        line = start.format(module=home, name=name)
        mark = "  # use" if line.startswith("from") and not line.endswith("*") else ""
        files[f"user{number}.py"] = f"{line}{mark}\n{body}\n"
    return files, f"{home}.{name}"


def _write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)


@given(programs())
def test_every_use_in_a_generated_program_is_found(program):
    files, symbol = program
    with TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, files)
        build_graph_for_repo(root)
        result = tool_rag_where_used(symbol, root, 1000)
    found = {
        (item.file, item.line)
        for item in result.items
        if item.confidence == "exact" and item.kind != "definition"
    }
    assert found == {
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# use")
    }


MODULES = {
    "a.py": [
        "class A:\n    def m(self): ...\n",
        "class A:\n    def m(self): ...\n    def n(self): return self\nx = A()\n",
        "def A(): ...\n",
        "__all__ = ['A']\nclass A:\n    def n(self): ...\n",
        "from b import *\n",
    ],
    "b.py": [
        "from a import A\ndef make(): return A()\n",
        "from a import A\ndef make(): return 1\n",
        "from a import A as Other\ndef make() -> Other: ...\n",
        "class A:\n    def m(self): ...\ndef make(): return A()\n",
    ],
    "c.py": [
        "import b\nb.make().m()\nb.make().n()\n",
        "from b import *\nmake().m()\nA().m()\n",
        "import pkg.d\npkg.d.y.m()\nfrom b import make\nmake().n()\n",
        "import pkg\npkg.d.y.m()\n",
        "def broken(:\n",
    ],
    "pkg/__init__.py": ["", "from . import d\n", "import pkg.d\nx = 1\n"],
    "conftest.py": [
        "import pytest\nfrom a import A\n@pytest.fixture\ndef thing(): return A()\n",
        "def thing(): return 1\n",
    ],
    "tests/conftest.py": ["import pytest\n@pytest.fixture\ndef thing(thing): return thing\n"],
    "tests/test_e.py": ["def test(thing): thing.m()\n"],
    "pkg/d.py": ["from a import x\ny = x\n", "from b import make\ny = make()\nz = y.m()\n"],
}
#: One state of the repository: which text each file has, or none.
STATES = st.fixed_dictionaries(
    {path: st.none() | st.sampled_from(texts) for path, texts in MODULES.items()}
)


def _become(root: Path, state: dict[str, str | None]) -> None:
    for path, text in state.items():
        target = root / path
        target.parent.mkdir(exist_ok=True)
        if text is None:
            target.unlink(missing_ok=True)
        elif not target.exists() or target.read_text() != text:
            target.write_text(text)


@given(st.lists(STATES, min_size=2, max_size=4))
def test_rebuild_after_changes_equals_a_new_build(states):
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for state in states:
            _become(root, state)
            build_graph_for_repo(root)
        rebuilt = (root / GRAPH_NAME).read_bytes()
        (root / FACTS_NAME).unlink()
        build_graph_for_repo(root)
        assert (root / GRAPH_NAME).read_bytes() == rebuilt
        assert CodeGraph(root).search("def").freshness_state == "FRESH"


@given(st.lists(st.sampled_from([*"abT[](),:=*\n .#'", "def ", "class ", "type "])).map("".join))
def test_any_text_is_read_or_refused_as_a_syntax_error(text):
    try:
        facts = read_facts("python", text)
    except (SyntaxError, ValueError):
        return
    assert facts.scopes[0].kind == "module"


CHAINS = {
    "functions": "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(1000)),
    "properties": "".join(
        f"class C{n}:\n  @property\n  def p(self): return C{n + 1}().p\n" for n in range(1000)
    ),
    "bases": "class C0: ...\n" + "".join(f"class C{n + 1}(C{n}): ...\n" for n in range(1000)),
    "aliases": "from typing import List\n"
    + "".join(f"T{n} = List['T{n + 1}']\n" for n in range(1000)),
    "branches": "x = 1\n" + "if x:\n    x = f()\n" * 1000,
    "itself": "class C0(C0): ...\ndef f0(): return f0().f0\nT0 = T0\n",
}


@pytest.mark.parametrize("name", CHAINS)
def test_long_and_circular_chains_are_built(repo, name):
    text = f"{CHAINS[name]}def g(a: T0):\n    a.m(); f0().m(); C0().p.m(); C999().m(); x.m()\n"
    root = repo(f"--- a.py\n{text}")

    report = build_graph_for_repo(root)

    assert report.unparsed == ()
    assert report.linked == 1


@pytest.mark.parametrize("depth", [50, 5000])
def test_deep_nesting_does_not_crash(repo, depth):
    root = repo("--- a.py\nx = " + "(" * depth + ")" * depth + "\n" + "y = x" + ".m()" * depth)

    report = build_graph_for_repo(root)

    assert report.files == 1
