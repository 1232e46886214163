"""Test collections: documents with titles, queries, and relevance judgements."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Judged:
    """A collection: title and text of each document, the questions, and the grades."""

    name: str
    documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    grades: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

    def texts(self) -> Iterator[tuple[str, str]]:
        for name, (title, text) in self.documents.items():
            yield name, f"{title}\n{text}"

    def unseen(self) -> "Judged":
        """The collection with only the held-out half of its queries."""
        names = sorted(self.grades)
        random.Random(7).shuffle(names)
        kept = names[len(names) // 2 :]
        grades = {name: self.grades[name] for name in kept}
        return Judged(self.name, self.documents, self.questions, grades)

    def ask(self, question: str, text: str, relevant: set[str], least: int = 1) -> None:
        """Add a query, if at least *least* relevant documents are in the collection."""
        held = {name: 1 for name in sorted(relevant) if name in self.documents}
        if len(held) >= least:
            self.questions[question] = text
            self.grades[question] = held


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def load(folder: Path) -> Judged:
    """The collection in *folder*, as BEIR or TREC lay it out."""
    made = Judged(folder.name)
    for row in lines(folder / "corpus.jsonl"):
        made.documents[row["_id"]] = (row.get("title") or "", row["text"])
    for row in lines(folder / "queries.jsonl"):
        made.questions[row["_id"]] = row["text"]
    places = [folder / "qrels" / "test.tsv", folder / "qrels.tsv", folder / "qrels.txt"]
    path = next(place for place in places if place.exists())
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split()
        if len(cells) > 2 and cells[-1].lstrip("-").isdigit() and int(cells[-1]) > 0:
            made.grades[cells[0]][cells[-2]] = int(cells[-1])
    return made
