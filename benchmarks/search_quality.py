"""How well passages are ranked on test collections, compared with other engines.

    python -m benchmarks.search_quality [FOLDER …] [--unseen] [--in-sentences] [--json FILE]

A FOLDER holds a collection as BEIR or TREC lay it out: `corpus.jsonl` (`_id`, `title`, `text`),
`queries.jsonl` (`_id`, `text`), and `qrels/test.tsv` (question, document, grade) or `qrels.txt`
(question, 0, document, grade). Without one, collections are made of what is available:
labelled disputes and claims in ../shared, the manual pages of this machine, where a page's text is
the query for the pages under SEE ALSO, and the collections of `debian_collections.py`,
`python_collections.py` and `abstract_collections.py` make.
`--unseen` uses only held-out queries: half of those of small collections, and as many others of
large ones. `--in-sentences` phrases the queries as people would ask a librarian.

Judge reads a file for each document, a title over a text, by `judge index add`; several passages
of a document count once. The peers get the same text in one field and are set as their manuals
show, stemming and stop words on where they have them. A peer that is not installed is left out,
and Judge in PostgreSQL without JUDGE_DATABASE_URL.
nDCG@10; 95 % intervals of the difference by a paired bootstrap over the queries.
"""

import argparse
import asyncio
import gzip
import json
import math
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import cycle
from pathlib import Path

import tantivy

from benchmarks.abstract_collections import abstracts
from benchmarks.debian_collections import QUESTIONS, debian
from benchmarks.judged import Judged, lines, load
from benchmarks.python_collections import python_documentation
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.bootstrap.corpus import open_postgres
from judge.library.search.query import parse_query
from judge.library.search.service import MAX_QUERY
from judge.types.search import Scope, SearchResults
from tests.fakes.postgres_server import forget_everything

SHARED = Path(__file__).parents[2] / "shared" / "eval"
MANUALS = Path("/usr/share/man")
LIMIT = 10
PASSAGES = 50
"""How many are retrieved for ten documents."""

DRAWS = 2000

SENTENCES = (
    "I am interested in articles about {}",
    "What papers exist which deal with {}",
    "I would like to find documents that discuss {}",
    "Find all literature concerning {}",
)

Find = Callable[[str], list[str]]


def disputes() -> Judged:
    """Disputes as people tell them, and the pages that bear on them."""
    made = Judged("disputes")
    for page in lines(SHARED / "relevance" / "pages.jsonl"):
        made.documents[page["id"]] = (page["title"], "\n\n".join(page["paragraphs"]))
    for row in lines(SHARED / "relevance" / "train.jsonl"):
        if row["relevant"]:
            made.questions[row["id"]] = f"{row['query']} {row['context']}"
            made.grades[row["id"]] = row["relevant"]
    return made


def claims() -> Judged:
    """Claims of Wikipedia as they are written, as queries for the texts they cite."""
    made = Judged("claims")
    names: dict[tuple[str, ...], str] = {}
    for row in lines(SHARED / "support" / "claims.jsonl"):
        for source in map(tuple, row["sources"]):
            name = names.setdefault(source, f"s{len(names)}")
            made.documents[name] = ("", "\n".join(source))
            if row["label"] != "not_supported":
                made.questions[row["id"]] = row["claim"]
                made.grades[row["id"]][name] = 2 if row["label"] == "supported" else 1
    return made


@dataclass
class Manual:
    """A manual page: its summary, its description, and the pages under SEE ALSO."""

    summary: str
    description: str
    see_also: str


def manuals(*, are_long: bool, first: int = 0) -> Judged:
    """Manual pages; a query is the summary of one, with its description if *are_long*.

    The pages used as queries, from the *first* eligible one on, are not among the documents.
    """
    pages = dict(_manual_pages())
    near: dict[str, set[str]] = defaultdict(set)
    for name, page in pages.items():
        for base, section in re.findall(r"([\w.:+-]+)\s*\((\d\w*)\)", page.see_also):
            other = f"{base}({section})"
            if other in pages and other != name:
                near[name].add(other)
                near[other].add(name)
    asking = sorted(name for name, others in near.items() if 3 <= len(others) <= 30)
    random.Random(2).shuffle(asking)
    asking = asking[first : first + QUESTIONS]
    made = Judged("manuals, long" if are_long else "manuals, short")
    for name, page in pages.items():
        if name not in asking:
            text = f"{page.summary}\n\n{' '.join(page.description.split()[:160])}"
            made.documents[name] = (name.partition("(")[0], text)
    for name in asking:
        described = " ".join(pages[name].description.split()[:70]) if are_long else ""
        made.questions[name] = f"{pages[name].summary}. {described}".strip()
        made.grades[name] = {other: 1 for other in near[name] if other in made.documents}
    made.grades = {name: held for name, held in made.grades.items() if held}
    return made


def _manual_pages() -> Iterator[tuple[str, Manual]]:
    for path in sorted(MANUALS.glob("man[1-8]/*.gz")):
        if path.is_symlink():
            continue
        sections = _sections(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        summary = sections["NAME"].replace("\n", " ").partition(" - ")[2].strip()
        described = sections["DESCRIPTION"]
        if summary and len(described.split()) >= 30:
            name = re.sub(r"\.(\d\w*)$", r"(\1)", path.name.removesuffix(".gz"))
            yield name, Manual(summary, described, sections["SEE ALSO"])


def _sections(roff: str) -> dict[str, str]:
    """The text of a manual page by heading, without markup."""
    plain = re.sub(r"\\f(?:\[[^\]]*\]|\(..|.)|\\s[+-]?\d+|\\[&|/]", "", roff).replace("\\-", "-")
    found: dict[str, list[str]] = defaultdict(list)
    heading = ""
    for line in plain.split("\n"):
        macro, _, rest = line.partition(" ")
        if macro in {".SH", ".Sh"}:
            heading = rest.strip(' "').upper()
        elif macro in {".BR", ".IR", ".RB", ".RI", ".BI", ".IB"}:
            found[heading].append(rest.replace(" ", "").replace('"', ""))
        elif macro == ".Xr":
            found[heading].append(re.sub(r"^(\S+) (\w+)", r"\1(\2)", rest))
        elif macro in {".B", ".I", ".Nm", ".Nd"}:
            found[heading].append(f"- {rest}" if macro == ".Nd" else rest)
        elif line[:1] not in {".", "'"}:
            found[heading].append(line)
    return defaultdict(str, {name: "\n".join(lines) for name, lines in found.items()})


def judge(collection: Judged, folder: Path) -> Find:
    """Judge, with a file for each document."""
    add_files(collection, folder, JUDGE_DATABASE_URL="")
    index = TantivyIndex(folder / "data")
    return partial(find, index.search, list(collection.documents))


def judge_in_postgres(collection: Judged, folder: Path) -> Find:
    """Judge with its index in the PostgreSQL at JUDGE_DATABASE_URL, where that is set."""
    address = os.environ.get("JUDGE_DATABASE_URL")
    if not address:
        raise ModuleNotFoundError("JUDGE_DATABASE_URL")
    forget_everything(address)
    add_files(collection, folder)

    async def search(*args: object, **options: int) -> SearchResults:
        async with open_postgres(address, None) as engine:
            return await engine.index.search(*args, **options)

    return partial(find, search, list(collection.documents))


def add_files(collection: Judged, folder: Path, **settings: str) -> None:
    """Index a file for each document, named by its number."""
    (folder / "files").mkdir()
    for number, (title, text) in enumerate(collection.documents.values()):
        held = f"{title}\n\n{text}" if title else text
        (folder / "files" / f"{number}.txt").write_text(held, encoding="utf-8")
    command = [sys.executable, "-m", "judge", "index", "add", str(folder / "files")]
    where = {"JUDGE_DATA_DIR": str(folder / "data"), "JUDGE_EMBEDDER": "none", **settings}
    subprocess.run(command, env=os.environ | where, check=False, capture_output=True)


def find(search: Callable[..., Awaitable[SearchResults]], names: list[str], text: str) -> list[str]:
    """The documents whose passages *search* finds first."""
    found = asyncio.run(search(parse_query(text[:MAX_QUERY]), Scope(), limit=PASSAGES))
    return [names[int(Path(hit.passage.path).stem)] for hit in found.hits]


def bare_tantivy(collection: Judged, _: Path) -> Find:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for name, text in collection.texts():
        writer.add_document(tantivy.Document(text=text, id=name))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def find(question: str) -> list[str]:
        query = index.parse_query(_plain(question), ["text"])
        return [searcher.doc(at).get_first("id") for _, at in searcher.search(query, LIMIT).hits]

    return find


def bm25s(collection: Judged, _: Path) -> Find:
    import bm25s as library
    import Stemmer

    def tokens(texts: list[str]) -> object:
        stemmer = Stemmer.Stemmer("english")
        return library.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    names = list(collection.documents)
    retriever = library.BM25()
    retriever.index(tokens([text for _, text in collection.texts()]), show_progress=False)

    def find(question: str) -> list[str]:
        found, _ = retriever.retrieve(tokens([question]), k=LIMIT, show_progress=False)
        return [names[at] for at in found[0]]

    return find


def fts5(collection: Judged, _: Path) -> Find:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table d using fts5(id unindexed, text, tokenize='porter')")
    base.executemany("insert into d values (?, ?)", collection.texts())

    def find(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _plain(question).split())
        rows = base.execute(
            "select id from d where d match ? order by rank limit ?", (words or '"x"', LIMIT)
        )
        return [name for (name,) in rows]

    return find


def lancedb(collection: Judged, folder: Path) -> Find:
    import lancedb as library

    rows = [{"id": name, "text": text} for name, text in collection.texts()]
    table = library.connect(str(folder / "lance")).create_table("d", rows)
    with redirect_stderr(StringIO()):
        table.create_fts_index("text")

    def find(question: str) -> list[str]:
        found = table.search(_plain(question), query_type="fts").limit(LIMIT).to_list()
        return [row["id"] for row in found]

    return find


ENGINES: dict[str, Callable[[Judged, Path], Find]] = {
    "Judge": judge,
    "in PostgreSQL": judge_in_postgres,
    "bare Tantivy": bare_tantivy,
    "bm25s": bm25s,
    "FTS5": fts5,
    "LanceDB FTS": lancedb,
}


def _plain(question: str) -> str:
    """Only the words, since the query languages of the peers are not compared."""
    return " ".join(re.findall(r"[^\W_]+", question.lower()))


def ndcg(ids: list[str], grades: dict[str, int]) -> float:
    """nDCG@10 with the grades as gains."""

    def gain(held: list[int]) -> float:
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(held[:LIMIT]))

    found = list(dict.fromkeys(ids))
    best = gain(sorted(grades.values(), reverse=True))
    return gain([grades.get(name, 0) for name in found]) / best


def interval(differences: list[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of *differences*."""
    chance = random.Random(1)
    means = sorted(
        statistics.mean(chance.choices(differences, k=len(differences))) for _ in range(DRAWS)
    )
    return means[DRAWS // 40], means[-DRAWS // 40]


def compare(collection: Judged) -> dict:
    """Print each engine's nDCG@10 and, for the others, how far Judge is above."""
    scores: dict[str, list[float]] = {}
    for name, build in ENGINES.items():
        with tempfile.TemporaryDirectory() as folder, suppress(ModuleNotFoundError):
            find = build(collection, Path(folder))
            scores[name] = [
                ndcg(find(collection.questions[asked]), grades)
                for asked, grades in collection.grades.items()
            ]
    told = {}
    for name, held in scores.items():
        above = [ours - theirs for ours, theirs in zip(scores["Judge"], held, strict=True)]
        told[name] = {"ndcg@10": statistics.mean(held), "judge_above": statistics.mean(above)}
        told[name]["interval"] = interval(above)
    sizes = {"documents": len(collection.documents), "questions": len(collection.grades)}
    return {"collection": collection.name, **sizes, "engines": told}


def in_sentences(questions: dict[str, str]) -> Iterator[tuple[str, str]]:
    for (name, question), sentence in zip(questions.items(), cycle(SENTENCES), strict=False):
        yield name, sentence.format(question)


def _print(row: dict) -> None:
    print(f"{row['collection']}: {row['questions']} questions, {row['documents']} documents")
    for name, held in row["engines"].items():
        low, high = held["interval"]
        above = f"   Judge {held['judge_above']:+.3f} ({low:+.3f} to {high:+.3f})"
        print(f"  {name:<14} nDCG@10 {held['ndcg@10']:.3f}{'' if name == 'Judge' else above}")


def at_hand(debian_root: Path, *, is_unseen: bool) -> Iterator[Judged]:
    if SHARED.exists():
        for collection in (disputes(), claims()):
            yield collection.unseen() if is_unseen else collection
    if MANUALS.exists():
        first = QUESTIONS if is_unseen else 0
        yield manuals(are_long=False, first=first)
        yield manuals(are_long=True, first=first)
    yield from debian(debian_root, is_unseen=is_unseen)
    for collection in python_documentation(debian_root):
        yield collection.unseen() if is_unseen else collection
    yield from abstracts(debian_root)  # None of these was used for tuning.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--debian", type=Path, default=Path("/"), help="as unpacked")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--in-sentences", action="store_true")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    rows = []
    given = map(load, options.folders)
    made = given if options.folders else at_hand(options.debian, is_unseen=options.unseen)
    for collection in made:
        if options.in_sentences:
            collection.questions = dict(in_sentences(collection.questions))
        rows.append(compare(collection))
        _print(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
