"""Compare Judge's extraction with trafilatura's fast mode, page by page in one run.

    python benchmarks/extraction.py [SHARED_FOLDER]

The pages and the scorer are not part of this repository; they are read from SHARED_FOLDER (by
default `../shared` beside it). Where that is missing the benchmark says so and ends well.
"""

import argparse
import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.library.extract.html_page import read_html  # noqa: E402

TYPES = {"article", "documentation", "service"}
OURS, PEER = "judge", "trafilatura-fast"


def lead(body: bytes, url: str) -> str | None:
    """Read the whole page in *body*, as the server does, and return its lead, not cut."""
    return read_html(body, max_words=100_000).lead


def load_scorer(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("scorer", folder / "first_paragraph_bench.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(folder)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    return scorer


def load_pages(scorer: ModuleType, folder: Path) -> list[dict]:
    pages, _ = scorer.load(folder, TYPES)
    for page in pages:
        page["corpus"] = folder.name
        scorer.prepare(page)
    return pages


def report(label: str, rows: list[dict]) -> None:
    by_extractor = defaultdict(list)
    for row in rows:
        by_extractor[row["ex"]].append(row)
    print(f"\n{label}: {len(by_extractor[OURS])} pages")
    for name, scored in by_extractor.items():
        hits, bodies, nones = (sum(row[key] for row in scored) for key in ("hit", "body", "none"))
        wrong, crashes = len(scored) - bodies - nones, sum(bool(row["crash"]) for row in scored)
        milliseconds = 1000 * sum(row["cpu"] for row in scored) / len(scored)
        print(
            f"  {name:17} hits {100 * hits / len(scored):5.1f} %   wrong "
            f"{100 * wrong / len(scored):4.1f} %   crashes {crashes}   {milliseconds:6.2f} ms CPU"
        )
    cpu = {name: sum(row["cpu"] for row in scored) for name, scored in by_extractor.items()}
    print(f"  {PEER} takes {cpu[PEER] / cpu[OURS]:.1f} times our CPU time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    folder = parser.parse_args().shared / "eval" / "first_paragraph"
    if not folder.is_dir():
        print(f"Skipped: no pages in {folder}. Give the shared folder's path as the argument.")
        return
    scorer = load_scorer(folder)
    extractors = {OURS: lead, PEER: scorer.PEERS[PEER]()}
    for corpus in ("pages", "uk"):
        pages = load_pages(scorer, folder / corpus)
        for extract in extractors.values():
            extract(pages[0]["raw"], pages[0]["url"])  # imports and caches are not counted
        rows: list[dict] = []
        scorer.run(extractors, pages, "bytes", rows)
        report(corpus, rows)


if __name__ == "__main__":
    main()
