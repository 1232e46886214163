"""How well ranked search of code answers questions.

    python benchmarks/code_search.py FOLDER... [--questions FILE]

Each FOLDER is a project. Its questions are taken from its documentation: the first sentence about
a function or class (`definition`) or a whole file (`file`), which is then removed from the searched
copy, and bare names that only one file defines (`symbol`). The relevant file is the one with the
sentence; the score is nDCG@10 over the items as shown, and `at` the same for the definition
itself. It reads Python, and `///`, `//!` and `/** */` of other languages.

FILE has other questions about one FOLDER, such as those of the benchmark of semble: in each line a
question and the files that answer it, with `|` between them. nDCG@10 is then that benchmark's: the
first item of each file counts.

`json` and `text` are the share of the right files whose items stand, whole, in the first 2,000
tokens of what the command prints in that format, three characters to a token.
"""

import argparse
import ast
import json
import random
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import NamedTuple

from codegraph.models import SearchItem, SearchResult
from codegraph.python_api import CodeGraph, build_graph_for_repo
from codegraph.query.formats import as_json, as_text

SEED = 11
#: Scores that are not a kind of question.
BESIDE = {"at", "json", "text"}
MOST = {"definition": 24, "file": 12, "symbol": 8}
SHOWN = 10
TOKENS = 2000
CHARACTERS_A_TOKEN = 3
_WORDS_AT_LEAST = 4
_IGNORED = shutil.ignore_patterns(
    "__pycache__", "*.so", ".git", ".judge", "*.min.js", "dist", "target"
)
_DOCUMENTED = re.compile(
    r"(?P<doc>(?:^[ \t]*///[^\n]*\n)+|(?:^[ \t]*//![^\n]*\n)+|^[ \t]*/\*\*.*?\*/[ \t]*\n)"
    r"(?P<after>(?:[ \t]*(?:#\[|@)[^\n]*\n)*[^\n]*)",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(
    r"\b(?:fn|struct|enum|trait|class|function|interface|type|const)\s+(\w+)|^\s*(\w+)\("
)


class Question(NamedTuple):
    """A query, the relevant files, and the lines of the definition if it is about one."""

    kind: str
    text: str
    files: tuple[str, ...]
    lines: range


class Documentation(NamedTuple):
    """A question, and the first and last line of the documentation that it comes from."""

    question: Question
    start: int
    end: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=Path, help="a file of them, about one folder")
    arguments = parser.parse_args()
    gains: dict[str, list[float]] = defaultdict(list)
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch) / folder.name
            shutil.copytree(folder, root, ignore=_IGNORED, symlinks=True)
            given = arguments.questions
            questions = read_questions(given, root) if given else prepared(root)
            build_graph_for_repo(root)
            own = asked(CodeGraph(root), questions)
        print(told(folder.name, own))
        for kind, values in own.items():
            gains[kind] += values
    print(told("in all", gains))
    return 0


def told(name: str, gains: dict[str, list[float]]) -> str:
    parts = [f"{kind} {mean(gains[kind]):.3f} ({len(gains[kind])})" for kind in sorted(gains)]
    every = [value for kind in gains.keys() - BESIDE for value in gains[kind]]
    return f"{name:<18} {mean(every):.3f}   {'  '.join(parts)}"


def mean(values: list[float]) -> float:
    return sum(values) / max(len(values), 1)


def asked(graph: CodeGraph, questions: list[Question]) -> dict[str, list[float]]:
    gains: dict[str, list[float]] = defaultdict(list)
    for one in questions:
        found = graph.rank(one.text)
        items = found.items[:SHOWN]
        gains[one.kind].append(gain([first(items, file) for file in one.files]))
        if one.kind == "definition":
            meant = [place for place, item in enumerate(items) if is_meant(item, one)]
            gains["at"].append(gain([min(meant, default=None)]))
        for form, printed in (("json", in_json), ("text", as_text)):
            gains[form].append(recall(found, printed, one.files))
    return gains


def first(items: Sequence[SearchItem], file: str) -> int | None:
    return next((place for place, item in enumerate(items) if item.file == file), None)


def is_meant(item: SearchItem, question: Question) -> bool:
    return item.file in question.files and item.line in question.lines


def gain(ranks: list[int | None]) -> float:
    """The nDCG of relevant items at *ranks*, counted from 0; None for those not found."""
    best = sum(1 / log2(rank + 2) for rank in range(len(ranks)))
    return sum(1 / log2(rank + 2) for rank in ranks if rank is not None) / best


def in_json(found: SearchResult) -> str:
    return json.dumps(as_json(found), separators=(",", ":"))


def recall(
    found: SearchResult, printed: Callable[[SearchResult], str], files: tuple[str, ...]
) -> float:
    """The share of *files* with an item within the first TOKENS tokens of the output."""
    room = TOKENS * CHARACTERS_A_TOKEN
    whole = [
        item.file
        for count, item in enumerate(found.items, 1)
        if len(printed(replace(found, items=found.items[:count], truncated=False))) <= room
    ]
    return sum(file in whole for file in files) / len(files)


def read_questions(path: Path, root: Path) -> list[Question]:
    """The questions in a file, without files that *root* does not have."""
    rows = [line.split("|") for line in path.read_text().splitlines()]
    known = ((text, [file for file in files if (root / file).exists()]) for text, *files in rows)
    return [
        Question("question" if " " in text else "symbol", text, tuple(files), range(0))
        for text, files in known
        if files
    ]


def prepared(root: Path) -> list[Question]:
    """Questions about the files below *root*; removes from these the sentences that they quote."""
    found: dict[str, list[Documentation]] = defaultdict(list)
    names: dict[str, list[Question]] = defaultdict(list)
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".py", ".rs", ".ts", ".js") or not path.is_file():
            continue
        file, text = path.relative_to(root).as_posix(), path.read_text(errors="ignore")
        for one in python_docs(file, text) if path.suffix == ".py" else other_docs(file, text):
            found[one.question.kind].append(one)
        for name in defined(path.suffix, text):
            names[name].append(Question("symbol", name, (file,), range(0)))
    chosen = random.Random(SEED)
    taken: list[Documentation] = []
    for kind in ("definition", "file"):
        taken += chosen.sample(found[kind], min(MOST[kind], len(found[kind])))
    alone = [places[0] for name, places in sorted(names.items()) if len(places) == 1]
    symbols = chosen.sample(alone, min(MOST["symbol"], len(alone)))
    cut(root, taken)
    return [*(one.question for one in taken), *symbols]


def cut(root: Path, taken: list[Documentation]) -> None:
    for one in taken:
        path = root / one.question.files[0]
        lines = path.read_text(errors="ignore").split("\n")
        indent = lines[one.start - 1][: -len(lines[one.start - 1].lstrip()) or None]
        lines[one.start - 1 : one.end] = [""] * (one.end - one.start + 1)
        if path.suffix == ".py":
            lines[one.start - 1] = f"{indent}pass"
        path.write_text("\n".join(lines))


def first_sentence(text: str) -> str:
    paragraph = re.sub(r"\s+", " ", text.strip().split("\n\n")[0])
    return re.split(r"(?<=[.!?]) ", paragraph)[0].strip()


def python_docs(file: str, text: str) -> Iterator[Documentation]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        sentence = first_sentence(ast.get_docstring(node) or "")
        if len(sentence.split()) < _WORDS_AT_LEAST:
            continue
        is_file = isinstance(node, ast.Module)
        lines = range(1, 1 << 30) if is_file else range(start(node), (node.end_lineno or 0) + 1)
        expression = node.body[0]
        question = Question("file" if is_file else "definition", sentence, (file,), lines)
        yield Documentation(question, expression.lineno, expression.end_lineno or 0)


def start(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def other_docs(file: str, text: str) -> Iterator[Documentation]:
    for match in _DOCUMENTED.finditer(text):
        plain = re.sub(
            r"^[ \t]*(///|//!|/\*\*|\*/|\*)[ \t]?|\*/", "", match["doc"], flags=re.MULTILINE
        )
        plain = re.sub(r"^@\w.*", "", plain, flags=re.MULTILINE | re.DOTALL)
        sentence = first_sentence(plain)
        if len(sentence.split()) < _WORDS_AT_LEAST:
            continue
        begin = text.count("\n", 0, match.start()) + 1
        end = begin + match["doc"].count("\n") - 1
        is_file = match["doc"].lstrip().startswith("//!")
        if not is_file and not _NAMED.search(match["after"]):
            continue
        lines = range(1, 1 << 30) if is_file else range(end + 1, end + 30)
        yield Documentation(
            Question("file" if is_file else "definition", sentence, (file,), lines), begin, end
        )


def defined(suffix: str, text: str) -> set[str]:
    """Names that look like functions and types; short names are too ambiguous."""
    pattern = (
        r"^\s*(?:async )?(?:def|class) (\w+)"
        if suffix == ".py"
        else (
            r"^\s*(?:pub(?:\(\w+\))? |export |default |async |abstract )*"
            r"(?:fn|struct|enum|trait|class|function|interface) (\w+)"
        )
    )
    return {name for name in re.findall(pattern, text, re.MULTILINE) if len(name) > 5}


if __name__ == "__main__":
    sys.exit(main())
