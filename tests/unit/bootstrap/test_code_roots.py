"""The repositories of JUDGE_CODE_ROOTS: read from the setting and queried by name only."""

import pytest
from codegraph.python_api import build_graph_for_repo

from judge.bootstrap.code_roots import CodeRoots, open_roots
from judge.errors import ConfigurationError, NotFound, UnknownRepository


@pytest.fixture
def seed_repo(tmp_path):
    root = tmp_path / "seed"
    root.mkdir()
    (root / "module_a.py").write_text("def target_symbol():\n    return 1\n")
    use = "from module_a import target_symbol\n\n\ndef use():\n    return target_symbol()\n"
    (root / "module_b.py").write_text(use)
    return root


@pytest.fixture
def roots(seed_repo) -> CodeRoots:
    build_graph_for_repo(seed_repo)
    return open_roots([f"seed = {seed_repo}"])


def uses(graph):
    return [item.file for item in graph.where_used("target_symbol").items]


async def test_repository_is_queried_by_its_name(roots):
    assert roots.names == ("seed",)
    assert "module_b.py" in await roots.ask("seed", uses)


@pytest.mark.parametrize("name", ["", "Seed", "../seed", "/etc", "seed/..", "nowhere"])
async def test_unknown_name_is_refused_with_the_valid_ones(roots, name):
    with pytest.raises(UnknownRepository, match="Valid are: seed") as caught:
        await roots.ask(name, uses)
    assert caught.value.valid == ("seed",)


async def test_name_is_required_with_several_repositories(seed_repo, tmp_path):
    roots = open_roots([f"a={seed_repo}", f"b={tmp_path}"])
    with pytest.raises(UnknownRepository, match="name one of: a, b"):
        await roots.ask(None, uses)


async def test_error_without_repositories_names_the_setting():
    with pytest.raises(UnknownRepository, match="JUDGE_CODE_ROOTS"):
        await CodeRoots().ask("seed", uses)


async def test_graph_that_is_a_link_is_not_opened(seed_repo, tmp_path):
    build_graph_for_repo(seed_repo)
    other = tmp_path / "other"
    (other / ".judge").mkdir(parents=True)
    (other / ".judge" / "rag_graph.json").symlink_to(seed_repo / ".judge" / "rag_graph.json")
    with pytest.raises(NotFound):
        await open_roots([f"other={other}"]).ask("other", uses)


async def test_file_replaced_by_a_link_is_not_shown(seed_repo, tmp_path, roots):
    secret = tmp_path / "secret.py"
    secret.write_text("password = 'target_symbol'\n")
    (seed_repo / "module_b.py").unlink()
    (seed_repo / "module_b.py").symlink_to(secret)
    found = await roots.ask("seed", lambda graph: graph.search("target_symbol"))
    assert "password" not in str(found)


@pytest.mark.parametrize("setting", ["", "name", "name=", "=path", "a b=path", "../x=path", "-=x"])
def test_setting_without_name_and_path_is_refused(setting):
    with pytest.raises(ConfigurationError, match="Write name=path"):
        open_roots([setting])


def test_duplicate_name_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="'a' twice"):
        open_roots([f"a={tmp_path}", f"a={tmp_path}"])


def test_missing_folder_in_the_setting_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"JUDGE_CODE_ROOTS: .*not a folder"):
        open_roots([f"a={tmp_path / 'nowhere'}"])
