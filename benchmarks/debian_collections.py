"""Judged collections from Debian's package descriptions, a dictionary, and Perl's FAQ.

People made the judgements for other purposes: task packages list the packages that serve a task,
packages are tagged with their purposes, entries of the dictionary name related ones, and answers
of the FAQ were written for their questions. To install all of them:

    apt-get -o Acquire::Languages=en update && apt-get install dict-foldoc perl-doc

or, to leave the machine as it is, `apt-get download` and `dpkg -x` into a folder.
"""

import gzip
import math
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.judged import Judged

QUESTIONS = 250
BYSTANDERS = 9000
"""How many packages that no task names are mixed in."""

_KINDRED = 0.75
"""The share of common tags, by weight, from which a package is relevant to another."""

_PARTS = re.compile(
    r"-(dbg|dbgsym|dev|doc|data|common|perl|cil)$|^lib(?!reoffice)|transitional"
    r"|^linux-(image|headers|modules)"
)
_SAYS_NO_PURPOSE = tuple(
    "role implemented-in interface uitoolkit suite special x11 scope iso".split()
)


def debian(root: Path, *, is_unseen: bool) -> Iterator[Judged]:
    """The collections that can be made of what lies below *root*; see `Judged.unseen`."""
    made: list[Judged] = []
    if any(root.glob("var/lib/apt/lists/*_main_i18n_Translation-en*")):
        made += tasks(root), tags(root)
    if any(root.glob("usr/share/perl/*/pod/perlfaq4.pod")):
        made.append(faq(root))
    for collection in made:
        yield collection.unseen() if is_unseen else collection
    if (root / "usr/share/dictd/foldoc.dict.dz").exists():
        yield dictionary(root, first=QUESTIONS if is_unseen else 0)


def tasks(root: Path) -> Judged:
    """Descriptions of tasks as queries for the packages of the task."""
    packages, told = _packages(root), _descriptions(root)
    blends = {_source(row) for name, row in packages.items() if name.endswith("-tasks")}
    blends = {name for name in blends if re.match(r"debian|debichem|freedombox", name)}
    asking = {
        name: row
        for name, row in packages.items()
        if _source(row) in blends and not re.search(r"-(tasks|config|menus|keyring)$", name)
    }
    documents = {n: t for n, t in _programs(root).items() if n not in asking}
    serving = {name: {n for n in _needed(row) if n in documents} for name, row in asking.items()}
    others = sorted(set(documents) - set().union(*serving.values()))
    random.Random(3).shuffle(others)
    kept = sorted(set().union(*serving.values(), others[:BYSTANDERS]))
    made = Judged("tasks", {name: documents[name] for name in kept})
    for name, needed in serving.items():
        title, text = told[name]
        if len(text.split()) >= 8:
            made.ask(name, _words(f"{title}. {text}", 70), needed, least=4)
    return made


def tags(root: Path) -> Judged:
    """Descriptions of packages as queries for others with the same tags."""
    packages, programs = _packages(root), _programs(root)
    purposes = {name: _purposes(packages[name]) for name in programs}
    purposes = {name: held for name, held in purposes.items() if len(held) >= 3}
    times = Counter(tag for held in purposes.values() for tag in held)

    def weight(held: set[str]) -> float:
        return sum(math.log(len(purposes) / times[tag]) for tag in held)

    def kindred(name: str) -> set[str]:
        own, least = purposes[name], _KINDRED * weight(purposes[name])
        return {
            other
            for other, held in purposes.items()
            if _source(packages[other]) != _source(packages[name])
            and (shared := weight(own & held)) >= least
            and shared >= _KINDRED * weight(held)
        }

    names = sorted(purposes)
    random.Random(4).shuffle(names)
    asked: dict[str, set[str]] = {}
    sources: set[str] = set()
    for name in names:
        if len(programs[name][1].split()) >= 40 and _source(packages[name]) not in sources:
            near = kindred(name)
            if 4 <= len(near) <= 40 and len(asked) < QUESTIONS:
                asked[name] = near
                sources.add(_source(packages[name]))
    kept = [name for name in purposes if _source(packages[name]) not in sources]
    made = Judged("tags", {name: programs[name] for name in kept})
    for name, near in asked.items():
        made.ask(name, _words(programs[name][1], 60), near, least=3)
    return made


def dictionary(root: Path, *, first: int = 0) -> Judged:
    """Entries as queries for the entries that they name, or that name them.

    The queries, from the *first* eligible entry on, are not among the documents.
    """
    entries, aliases = _entries(root)
    told = {name: _without_links(text) for name, text in entries.items()}
    told = {name: text for name, text in told.items() if len(text.split()) >= 12}
    near: dict[str, set[str]] = defaultdict(set)
    for name in told:
        for link in re.findall(r"\{([^{}()]+)\}", entries[name]):
            other = aliases.get(re.sub(r"\s+", " ", link).lower(), "")
            if other in told and other != name:
                near[name].add(other)
                near[other].add(name)
    asking = sorted(
        name for name in near if 4 <= len(near[name]) <= 25 and len(told[name].split()) >= 30
    )
    random.Random(5).shuffle(asking)
    asking = asking[first : first + QUESTIONS]
    kept = set(told) - set(asking)
    made = Judged("dictionary", {name: (name, told[name]) for name in told if name in kept})
    for name in asking:
        made.ask(name, _words(told[name], 60), near[name], least=3)
    return made


def faq(root: Path) -> Judged:
    """Questions of Perl's FAQ as queries for their answers among all sections of the manual."""
    made = Judged("faq")
    left_out = re.compile(r"delta|perl(ko|jp|cn|tw|toc|uniprops|modlib|diag|hist)")
    questions = {}
    for path in sorted(root.glob("usr/share/perl/**/*.pod")):
        if left_out.search(path.name):
            continue
        text = _plain_pod(path.read_text(encoding="utf-8", errors="replace"))
        sections = re.finditer(
            r"(?ms)^=(head\d|item) +(.*?)\n\n(.*?)(?=^=(?:head\d|item)|\Z)", text
        )
        for number, (mark, heading, body) in enumerate(match.groups() for match in sections):
            held = re.sub(r"(?m)^=\w+.*$", "", body.strip()).strip()
            if len(held.split()) < 20:
                continue
            name = f"{path.stem}{number}"
            made.documents[name] = ("", held)
            if "faq" in path.name and mark == "head2" and len(heading.split()) >= 4:
                questions[name] = " ".join(heading.split())
    for name, question in questions.items():
        made.ask(name, question, {name})
    return made


def _read(path: Path) -> str:
    command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode(
        "utf-8", "replace"
    )


def _rows(root: Path, kind: str) -> Iterator[dict[str, str]]:
    """The stanzas of the main archive's list of that *kind*."""
    (path,) = [
        path
        for path in root.glob(f"var/lib/apt/lists/*_main_{kind}*")
        if "security" not in path.name and "updates" not in path.name
    ]
    for stanza in _read(path).split("\n\n"):
        row: dict[str, str] = {}
        key = ""
        for line in stanza.split("\n"):
            if line.startswith(" ") and key:
                row[key] += f"\n{line[1:]}"
            elif ":" in line:
                key, _, value = line.partition(":")
                row[key] = value.strip()
        if "Package" in row:
            yield row


@cache
def _packages(root: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in _rows(root, "binary-"):
        found.setdefault(row["Package"], row)
    return found


@cache
def _descriptions(root: Path) -> dict[str, tuple[str, str]]:
    """Title and text of each package."""
    found: dict[str, tuple[str, str]] = {}
    for row in _rows(root, "i18n_Translation-en"):
        title, _, text = row["Description-en"].partition("\n")
        found.setdefault(row["Package"], (title.strip(), re.sub(r"(?m)^\.$", "", text).strip()))
    return found


def _programs(root: Path) -> dict[str, tuple[str, str]]:
    """The descriptions of packages that are not parts of others."""
    told, packages = _descriptions(root), _packages(root)
    return {
        name: told[name]
        for name in packages
        if name in told and not _PARTS.search(name) and len(told[name][1].split()) >= 15
    }


def _source(row: dict[str, str]) -> str:
    return row.get("Source", row["Package"]).split()[0]


def _needed(row: dict[str, str]) -> Iterator[str]:
    for kind in ("Depends", "Recommends", "Suggests"):
        for name in re.split(r"[,|]", row.get(kind, "")):
            yield re.split(r"[ (:]", name.strip())[0]


def _purposes(row: dict[str, str]) -> set[str]:
    held = [tag for tag in re.split(r"[,\s]+", row.get("Tag", "")) if tag]
    is_program = "role::program" in held
    return {tag for tag in held if is_program and not tag.startswith(_SAYS_NO_PURPOSE)}


def _words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def _entries(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The dictionary's entries, and the name of the entry for each of its spellings."""
    entries: dict[str, str] = {}
    aliases: dict[str, str] = {}
    names: list[str] = []
    body: list[str] = []
    with gzip.open(root / "usr/share/dictd/foldoc.dict.dz", "rt", errors="replace") as file:
        for line in [*file.read().split("\n")[100:], "end"]:  # the preface is about the file
            if line and not line.startswith(" "):
                if body:
                    entries[names[0]] = "\n".join(body)
                    aliases |= {name.lower(): names[0] for name in names}
                    names, body = [], []
                names.append(line.strip())
            elif names:
                body.append(line[3:])
    return entries, aliases


def _without_links(text: str) -> str:
    marks = r"\s*\(https?:[^)]*\)|<[\w, /-]+>|\(\d{4}-\d\d-\d\d\)|[{}]"
    return " ".join(re.sub(marks, "", text).split())


def _plain_pod(text: str) -> str:
    text = re.sub(r"[A-Z]<<+ (.*?) >>+", r"\1", text, flags=re.DOTALL)
    for _ in range(3):  # they nest
        text = re.sub(r"[BCFILSX]<([^<>]*)>", lambda match: match[1].split("|")[0], text)
    return text.replace("E<gt>", ">").replace("E<lt>", "<")
