"""Whole pages are read as recorded: title, date, nations, lead and every passage.

How well pages are read is measured by `benchmarks.quality`. Recorded by
`python -m tests.unit.library.extract.test_pages_as_read`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.library.extract.html_page import read_html
from tests.fakes.country import UK

TESTS = Path(__file__).parents[3]
RECORDED = TESTS / "fixtures" / "read_pages"
PAGES = sorted([*RECORDED.glob("*.html"), *(TESTS / "golden" / "pages").glob("*.html")])


def as_read(page: Path) -> str:
    return "".join(f"{line}\n" for line in _lines(page.read_bytes()))


def _lines(body: bytes) -> Iterator[str]:
    for has_description in (False, True):
        found = read_html(body, has_description=has_description, regions=UK.region_names)
        yield f"{found.title} ({found.updated}, {', '.join(found.nations) or 'all nations'})"
        yield f"withdrawn: {found.withdrawn}"
        yield f"lead: {found.lead}"
    for passage in found.passages:
        yield f"{passage.heading or '-'}: {passage.text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_read_as_recorded(page: Path) -> None:
    assert as_read(page) == (RECORDED / f"{page.stem}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for known in PAGES:
        (RECORDED / f"{known.stem}.txt").write_text(as_read(known), encoding="utf-8")
