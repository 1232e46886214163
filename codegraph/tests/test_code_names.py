"""Names as people write them: layouts of repositories, new names, members, suggestions."""

import json
import shutil
import time
from pathlib import Path

import pytest
from codegraph.errors import AmbiguousSymbol, UnknownSymbol
from codegraph.python_api import CodeGraph, build_graph_for_repo

SHARED = Path(__file__).parents[3] / "shared" / "cases" / "code"


def graph_of(root: Path) -> CodeGraph:
    build_graph_for_repo(root)
    return CodeGraph(root)


def uses_of(graph: CodeGraph, symbol: str) -> list[str]:
    items = graph.where_used(symbol).items
    return [f"{item.file}:{item.line}" for item in items if item.kind != "definition"]


def answer(graph: CodeGraph, case: dict) -> bool:
    """Whether *graph* answers a shared case as it says."""
    for symbol in case.get("symbols", [case.get("symbol")]):
        try:
            uses = uses_of(graph, symbol)
        except AmbiguousSymbol as error:
            wanted = case.get("candidates", ["none"])
            return all(any(c.endswith(name) for c in error.candidates) for name in wanted)
        except UnknownSymbol as error:
            if "suggests" in case:
                return case["suggests"] in str(error).partition("Did you mean")[2]
            continue
        never = {use.partition(":")[0] for use in uses} & set(case.get("never", ()))
        return "suggests" not in case and set(case["uses"]) <= set(uses) and not never
    return False


@pytest.mark.skipif(not SHARED.exists(), reason="needs the shared cases")
def test_the_shared_cases_are_answered(tmp_path):
    pytest.importorskip("tree_sitter_typescript")
    shutil.copytree(SHARED / "files", tmp_path / "files")
    cases = [json.loads(line) for line in (SHARED / "expected.jsonl").read_text().splitlines()]
    graphs = {name: graph_of(tmp_path / "files" / name) for name in {c["repo"] for c in cases}}

    assert [c["name"] for c in cases if not answer(graphs[c["repo"]], c)] == []


SAME_NAMES = """\
--- app/__init__.py
--- app/db.py
db = object()
--- app/celery/__init__.py
from .base import celery
--- app/celery/base.py
celery = object()
--- site/__init__.py
shop = object()
--- site/shop/__init__.py
--- app/views.py
from app import db as module
from app.db import db
from app.celery import celery
db.query()
celery.task()
views = 1
--- app/other.py
from app import tools
tools.f()
other_tools = tools = 1
--- app/tools.py
def f(): ...
"""


def test_a_variable_in_a_module_of_its_name_is_a_candidate(repo):
    graph = graph_of(repo(SAME_NAMES))

    for name, candidates in {
        "db": ("app.db", "app.db.db"),
        "celery": ("app.celery", "app.celery.base.celery"),
        "shop": ("site/__init__.py:shop", "site/shop/__init__.py"),
    }.items():
        with pytest.raises(AmbiguousSymbol) as raised:
            graph.where_used(name)
        assert raised.value.candidates == candidates
    assert "app/views.py:4" in uses_of(graph, "app.db.db")
    assert graph.where_used("tools").resolved == "app.tools", "a variable elsewhere is no candidate"


LAYOUTS = """\
--- services/web/app/mail.py
def send(): ...
--- services/web/app/models/__init__.py
--- services/web/app/models/user.py
class User: ...
--- services/web/app/main.py
from app.mail import send
from app.models.user import User
import app.mail
from app import mail
send()
User()
app.mail.send()
mail.send()
--- services/web/tests/test_mail.py
from app.mail import send
send()
--- services/job/app/mail.py
def send(): ...
--- services/job/run.py
from app.mail import send
send()
--- core/json/tool.py
def main(): ...
--- core/start.py
import json.tool
json.tool.main()
--- tests/fixtures/lib/deep.py
def f(): ...
--- lib/deep.py
def f(): ...
--- tests/test_deep.py
from lib.deep import f
f()
"""


def test_a_package_without_init_is_found_nearest_to_the_importer(repo):
    graph = graph_of(repo(LAYOUTS))

    web = uses_of(graph, "services/web/app/mail.py:send")
    assert {f"services/web/app/main.py:{line}" for line in (5, 7, 8)} <= set(web)
    assert "services/web/tests/test_mail.py:2" in web
    assert "services/web/app/main.py:6" in uses_of(graph, "User")
    job = uses_of(graph, "services/job/app/mail.py:send")
    assert [use for use in job if "web" in use] == []
    assert "services/job/run.py:2" in job
    assert uses_of(graph, "core.json.tool.main") == [], "the standard library comes first"
    assert "tests/test_deep.py:2" in uses_of(graph, "lib/deep.py:f")


SAME_AS_LIBRARIES = """\
--- utils/logging.py
import logging
logging.info(1)
--- lib/__init__.py
--- lib/types.py
class Union: ...
--- main.py
import logging
import types
from utils import logging as ours
from lib.types import Union
logging.info(1)
types.Union()
--- examples/flask.py
from flask import Flask
app = Flask()
--- tests/data/django/apps.py
class AppConfig: ...
--- tests/data/redis/__init__.py
--- tests/helpers.py
def make(): ...
--- tests/unit/test_a.py
from helpers import make
make()
--- src/pkg/__init__.py
--- src/pkg/a.py
import flask
import redis
from django.apps import AppConfig
from helpers import make
flask.Flask()
AppConfig()
make()
--- backend/models.py
class User: ...
--- tests/test_models.py
from models import User
User()
"""


def test_a_loose_module_is_not_the_library_of_its_name(repo):
    graph = graph_of(repo(SAME_AS_LIBRARIES))

    assert uses_of(graph, "utils/logging.py") == ["main.py:3"]
    assert uses_of(graph, "Union") == ["main.py:4"]
    assert uses_of(graph, "examples/flask.py") == []
    assert uses_of(graph, "tests/data/django/apps.py:AppConfig") == []
    assert uses_of(graph, "tests/data/redis/__init__.py") == []
    assert uses_of(graph, "make") == ["tests/unit/test_a.py:2", "tests/unit/test_a.py:1"]
    assert "tests/test_models.py:2" in uses_of(graph, "User"), "tests may import from any folder"


def test_a_name_may_begin_with_the_folder_of_sources(repo):
    graph = graph_of(
        repo("--- src/app/mail.py\ndef send(): ...\nclass Box:\n    def add(self): ...\n")
    )

    assert graph.where_used("src.app.mail.send").resolved == "app.mail.send"
    assert graph.where_used("src.app.mail.Box.add").resolved == "app.mail.Box.add"
    with pytest.raises(UnknownSymbol):
        graph.where_used("src.app.mail.nothing")


@pytest.mark.parametrize(
    "name",
    [
        "app.mail:Box.add",
        "src/app/mail.py::Box::add",
        "./src/app/mail.py:Box.add",
        "app/mail/Box.add",
        "src\\app\\mail.py:Box.add",
        "mail.py::Box::add",
        "Box#add",
        "Box.add()",
    ],
)
def test_a_name_may_be_written_with_its_path(repo, name):
    graph = graph_of(
        repo("--- src/app/mail.py\nclass Box:\n    def add(self): ...\ndef add(): ...\n")
    )

    assert graph.where_used(name).resolved == "app.mail.Box.add"
    for path in ("src/app/mail.py", "./src/app/mail.py", "app/mail.py", "mail.py", "src/app/mail"):
        assert graph.where_used(path).resolved == "app.mail"
    for wrong in ("app/post.py::Box::add", "Box:mail", "other.app.mail:add", "app.mail:Box.gone"):
        with pytest.raises(UnknownSymbol):
            graph.where_used(wrong)


def test_a_name_may_begin_with_folders_that_are_no_packages(repo):
    text = "--- api/app/__init__.py\ndef create(): ...\n--- api/app/run.py\nfrom app import user\n"
    text += "--- api/app/user.py\nclass User:\n    def save(self): ...\n"
    graph = graph_of(repo(text + "--- libs/src/acme/core/__init__.py\ndef setup(): ...\n"))

    for name, resolved in {
        "api/app/user.py::User::save": "app.user.User.save",
        "api.app.user.User": "app.user.User",
        "user.User().save()": "app.user.User.save",
        "api/app/__init__.py::create": "app.create",
        "app.run.py": "app.run",
        "acme.core.setup": "core.setup",
        "libs/src/acme/core": "core",
    }.items():
        assert graph.where_used(name).resolved == resolved


def test_a_module_that_is_found_from_a_new_folder_is_linked_again(repo):
    root = repo("--- a/run.py\nfrom app.x import f\nf()\n")
    graph = graph_of(root)
    repo("--- a/app/x.py\ndef f(): ...\n")

    assert "a/run.py:2" in uses_of(graph_of(root), "f")
    assert graph.where_used("a.app.x.f").counts == {"calls": 1, "imports": 1}


def test_a_new_name_finds_the_symbol(repo):
    text = "--- p/__init__.py\nfrom p.a import make as create\nfrom p.a import Old as New\n"
    text += "--- p/a.py\ndef make(): ...\nclass Old:\n    def m(self): ...\n"
    text += "--- b.py\nfrom p import create\ncreate()\n"
    graph = graph_of(repo(text))

    for name in ("create", "p.create"):
        assert graph.where_used(name).resolved == "p.a.make"
        assert "b.py:2" in uses_of(graph, name)
    assert graph.where_used("New.m").resolved == "p.a.Old.m"


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("Store.laod", "a.Store.load"),
        ("Store.Save", "a.Base.save"),
        ("a.Store.colour", "a.Store.color"),
        ("a.helpr", "a.helper"),
        ("Stoer", "a.Store"),
        ("STORE", "a.Store"),
        ("Store.LOAD", "a.Store.load"),
        ("class Store", "a.Store"),
        ("elper", "a.helper"),
        ("Store.load_all_rows", "b.loads_all_rows"),
        ("all_rows", "b.loads_all_rows"),
    ],
)
def test_an_unknown_member_is_answered_with_those_that_look_alike(repo, name, similar):
    root = repo(
        "--- a.py\nclass Base:\n    def save(self): ...\nclass Store(Base):\n"
        "    color = 1\n    def load(self): ...\ndef helper(): ...\n"
        "--- b.py\ndef loads(): ...\ndef colours(): ...\ndef loads_all_rows(): ...\n"
    )
    with pytest.raises(UnknownSymbol, match=f"Did you mean.* ?{similar}[,?]"):
        graph_of(root).where_used(name)


def _globals(count: int) -> dict[str, str]:
    return {
        "g.py": "state = 0\n"
        + "".join(f"def f{n}():\n    global state\n    state = {n}\n" for n in range(count))
    }


def _attributes(count: int) -> dict[str, str]:
    return {
        "a.py": "class A:\n"
        + "".join(f"    def f{n}(self):\n        self.x = self.x + {n}\n" for n in range(count))
    }


def _stubs(count: int) -> dict[str, str]:
    count //= 12
    return {
        f"s{n}.pyi": f"from s{(n + 1) % count} import *\ndef f{n}(a: int) -> C{n // 2}: ...\n"
        for n in range(count)
    }


def _hex(count: int) -> dict[str, str]:
    numbers = [hex(n * 2654435761 % 2**32) for n in range(10 * count)]
    return {"t.py": f"T = [{', '.join(numbers)}]\nU = ({', '.join(numbers)})\n"}


@pytest.mark.slow
@pytest.mark.parametrize("make", [_globals, _attributes, _stubs, _hex])
def test_a_larger_file_takes_no_more_time_than_its_size(tmp_path, make):
    def seconds(count: int, attempt: int) -> float:
        root = tmp_path / f"{count}-{attempt}"
        root.mkdir()
        for name, text in make(count).items():
            (root / name).write_text(text)
        started = time.process_time()
        build_graph_for_repo(root)
        return time.process_time() - started

    # A machine that is busy for a moment does not make every attempt slow.
    assert any(seconds(2000, n) <= 7 * (seconds(500, n) + 0.1) for n in range(4))
