"""How the playground's files are served; browser tests cover what they do."""

import re

import pytest

from judge.entrypoints.api.routes.status_and_pages import POLICY, files_in
from judge.settings import Settings

BUDGET_BYTES = 100_000
WIDGET_BUDGET_BYTES = 24_000
FILES = files_in("playground")
NAMES = sorted(FILES)


async def test_every_file_has_its_media_type(opened):
    types = {
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    }
    async with opened() as bench:
        for name in NAMES:
            reply = await bench.client.get(f"/playground/{name}")
            assert reply.status_code == 200
            assert reply.headers["content-type"] == types[name.rpartition(".")[2]]
            assert reply.headers["x-content-type-options"] == "nosniff"


async def test_no_other_file_is_served(opened):
    async with opened() as bench:
        for name in ("app.py", "%2e%2e%2fapi%2fapp.py", "app.js%00", "APP.JS", ""):
            reply = await bench.client.get(f"/playground/{name}")
            assert reply.status_code == 404


def test_page_size_is_within_its_budget():
    sizes = {name: len(body) for name, body in FILES.items()}
    assert sizes.pop("widget.js") < WIDGET_BUDGET_BYTES
    assert sum(sizes.values()) < BUDGET_BYTES


@pytest.mark.parametrize("origins", ["", "https://advice.example", "*"])
async def test_widget_is_readable_across_origins_and_cached(opened, origins):
    settings = Settings(_env_file=None, JUDGE_CORS_ORIGINS=origins)
    async with opened(settings=settings) as bench:
        reply = await bench.client.get("/widget.js", headers={"Origin": "https://advice.example"})
    assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
    [allowed] = reply.headers.get_list("access-control-allow-origin")
    assert allowed in {"*", "https://advice.example"}
    assert reply.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
    assert reply.headers["cache-control"].startswith("public, max-age=3600")


async def test_content_security_policy_allows_only_own_files(opened):
    async with opened() as bench:
        reply = await bench.client.get("/")
    assert reply.headers.get_list("content-security-policy") == [POLICY]
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self';")


def test_page_works_under_the_path_of_a_proxy():
    pages = {**FILES, **files_in("api/schema_page")}
    for name, body in pages.items():
        assert re.findall(r"""(?:href|src)="/|(?:fetch|import)\(["'`]/""", body.decode()) == [], (
            name
        )


def test_page_complies_with_its_policy():
    page = FILES["index.html"].decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"\bstyle=|<style|\son\w+=", page) == []


def test_files_name_only_one_another_and_store_nothing_but_the_key():
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|localStorage|cookie"
    )
    for name, body in FILES.items():
        text = body.decode()
        assert set(re.findall(r'from "\./([\w.]+)"', text)) <= set(NAMES)
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}
        if name.endswith(".js"):
            assert re.findall(forbidden, text) == []
            assert name == "session.js" or "sessionStorage" not in text
