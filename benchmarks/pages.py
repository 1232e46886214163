"""Show how pages are read: GOV.UK's items as its API gives them and as HTML, and other real pages.

    python benchmarks/pages.py [SHARED_FOLDER]

`read` is what other scorers call. The pages are not part of this repository; they are read from
SHARED_FOLDER (by default `../shared` beside it). What is missing there is left out, and said.
"""

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.library.pages.page_reader import read_body  # noqa: E402
from judge.library.pages.page_records import SnippetRequest  # noqa: E402
from judge.types.references import Page, RetrievalSettings, SourceSpec  # noqa: E402

WITH_BODY = ("guide", "answer", "detailed_guide", "publication")
NATIONS = {"england": "England", "scotland": "Scotland", "wales": "Wales"} | {
    "northern_ireland": "Northern Ireland"
}
WORD = re.compile(r"\w+")


def read(url: str, body: bytes, content_type: str) -> dict:
    """Read a fetched page: an API's JSON or HTML, as *content_type* says."""
    request = SnippetRequest("", SourceSpec(url, ""), RetrievalSettings())
    page = read_body(request, Page(url, body, content_type=content_type))
    if page is None:
        return {"lead": None, "passages": [], "updated": None, "withdrawn": False, "nations": []}
    return {
        "lead": page.lead,
        "passages": [{"heading": one.heading, "text": one.text} for one in page.passages],
        "updated": page.updated.isoformat() if page.updated else None,
        "withdrawn": page.withdrawn,
        "nations": list(page.nations),
    }


def as_html(item: dict) -> bytes:
    """Return *item* roughly as GOV.UK's templates render it, without the title of the window."""
    details = item.get("details") or {}
    title = escape(item.get("title") or "")
    parts = [
        f"<title>{title} - GOV.UK</title>",
        '</head><body><a class="govuk-skip-link" href="#content">Skip to main content</a>',
        '<div class="gem-c-cookie-banner"><h2>Cookies on GOV.UK</h2><p>We use some.</p></div>',
        '<header role="banner"><nav><a href="/">GOV.UK</a></nav></header>',
        f'<main role="main" id="content"><h1 class="gem-c-title__text">{title}</h1>',
        f'<p class="gem-c-lead-paragraph">{item.get("description") or ""}</p>',
        '<div class="gem-c-metadata"><dl><dt>From:</dt><dd>A department</dd>',
        "<dt>Published</dt><dd>1 January 1999</dd>",
        f"<dt>Last updated</dt><dd>{_british_date(item)}</dd></dl></div>",
        *_notes(item, details),
        *_texts(details),
        "</main><aside class='gem-c-contextual-sidebar'><h2>Related content</h2>",
        "<ul><li><a href='/x'>Another page about another thing</a></li></ul></aside>",
        "<footer><p>All content is available under the Open Government Licence.</p></footer>",
        "</body></html>",
    ]
    return ('<!doctype html><html lang="en"><head>' + "\n".join(parts)).encode()


def _british_date(item: dict) -> str:
    year, month, day = (item.get("public_updated_at") or "2001-01-01")[:10].split("-")
    names = "January February March April May June July August September October November December"
    return f"{int(day)} {names.split()[int(month) - 1]} {year}"


def _notes(item: dict, details: dict) -> Iterator[str]:
    if notice := item.get("withdrawn_notice"):
        yield (
            '<section class="gem-c-notice" aria-label="Notice"><h2>This '
            f"{item['document_type'].replace('_', ' ')} was withdrawn on <time datetime="
            f"'{notice['withdrawn_at']}'>a day</time></h2>{notice['explanation']}</section>"
        )
    applies = details.get("national_applicability") or {}
    names = [NATIONS[nation] for nation, told in applies.items() if told["applicable"]]
    if names:
        said = " and ".join(", ".join(names).rsplit(", ", 1))
        yield f'<section class="gem-c-devolved-nations"><h2>Applies to {said}</h2></section>'


def _texts(details: dict) -> Iterator[str]:
    keys = ("introductory_paragraph", "introduction", "licence_overview", "body")
    for value in map(details.get, keys):
        if isinstance(value, str):
            yield f'<div class="gem-c-govspeak govuk-govspeak">{value}</div>'
    for part in details.get("parts") or []:
        yield f'<h2>{escape(part["title"])}</h2><div class="gem-c-govspeak">{part["body"]}</div>'
    if isinstance(more := details.get("more_information"), str):
        yield f'<div class="gem-c-govspeak">{more}</div>'


def paragraphs(item: dict) -> list[list[str]]:
    """Return the words of each `<p>` and list item of *item*'s text."""
    html = " ".join(_texts(item.get("details") or {}))
    texts = re.findall(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", html, re.DOTALL)
    return [words(re.sub(r"<[^>]+>", "", text)) for text in texts]


def words(text: str) -> list[str]:
    return WORD.findall(unescape(text).lower())


def has_body_lead(item: dict, lead: str | None) -> bool:
    start = words(lead or "")[:8]
    body = [word for paragraph in paragraphs(item) for word in paragraph]
    return bool(start) and any(
        body[at : at + len(start)] == start for at in range(len(body) - len(start) + 1)
    )


def score_items(label: str, items: list[dict], content_type: str) -> None:
    counts: Counter[str] = Counter()
    for item in items:
        url = "https://www.gov.uk" + item["base_path"]
        body = json.dumps(item).encode() if content_type.endswith("json") else as_html(item)
        found = read(url, body, content_type)
        told = (item.get("details") or {}).get("national_applicability") or {}
        nations = {name.replace("_", "-") for name, one in told.items() if one["applicable"]}
        is_withdrawn = bool(item.get("withdrawn_notice"))
        counts["withdrawn"] += is_withdrawn
        counts["withdrawn, quoted"] += is_withdrawn and not found["withdrawn"]
        counts["withdrawn, wrongly"] += found["withdrawn"] and not is_withdrawn
        counts["nations told"] += bool(told)
        counts["nations wrong"] += bool(told) and nations != set(found["nations"])
        counts["nations from the text"] += not told and bool(found["nations"])
        counts["date wrong"] += (found["updated"] or "") != (item.get("public_updated_at") or "")[
            :10
        ]
        if is_withdrawn or not any(len(one) >= 8 for one in paragraphs(item)):
            continue
        counts["with a paragraph"] += 1
        counts["lead from the body"] += has_body_lead(item, found["lead"])
        if item["schema_name"] in WITH_BODY:
            counts["guides and publications with a paragraph"] += 1
            counts["guides and publications, lead from the body"] += has_body_lead(
                item, found["lead"]
            )
    print(f"\n{label}: {len(items)} items")
    for name, count in counts.items():
        print(f"  {name:45} {count}")


def score_passages(folder: Path) -> None:
    """Print which share of the paragraphs of guidance pages is in Judge's passages."""
    pages = map(json.loads, (folder / "pages.jsonl").read_text("utf-8").splitlines())
    there = found = count = 0
    seconds = 0.0
    for page in pages:
        if not page["html_path"]:
            continue
        body = gzip.decompress((folder / page["html_path"]).read_bytes())
        started = time.process_time()
        passages = read(page["url"], body, "text/html")["passages"]
        seconds += time.process_time() - started
        count += 1
        known = _grams(words(" ".join(one["text"] for one in passages)))
        for paragraph in map(words, page["paragraphs"]):
            grams = _grams(paragraph)
            there += 1
            found += len(grams & known) >= 0.8 * len(grams)
    print(f"\nrelevance: {count} pages, {1000 * seconds / count:.2f} ms CPU a page")
    print(f"  {100 * found / there:.1f} % of {there} paragraphs stand in the passages")


def _grams(tokens: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(tokens[at:] for at in range(3)), strict=False)) or {tuple(tokens)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    folder = parser.parse_args().shared / "eval"
    if (folder / "govuk").is_dir():
        items = [json.loads(path.read_bytes()) for path in sorted((folder / "govuk").iterdir())]
        score_items("GOV.UK through its API", items, "application/json")
        score_items("GOV.UK through HTML", items, "text/html")
    if (folder / "relevance").is_dir():
        score_passages(folder / "relevance")
    else:
        print(f"Skipped: no pages in {folder / 'relevance'}.")


if __name__ == "__main__":
    main()
