"""How far the exact uses of the code graph agree with three language servers.

    python benchmarks/codegraph_servers.py PROJECT... [--servers BIN] [--list]

PROJECT is a folder with a Python project, such as an unpacked source distribution. Its `.py` and
`.pyi` files alone are copied to a temporary folder, so that no project's own settings narrow what
a server looks at. It needs `basedpyright-langserver`, `ty` and `pyrefly`, on the PATH or in the
folder BIN, for example after

    python -m venv peers && peers/bin/pip install basedpyright ty pyrefly

and ends with code 2 where fewer than two of them are there. Symbols are functions, classes and
methods, picked by the hash of their names: half of them methods whose name is defined more than
once. All definitions of a name in one scope, in a module and in its stub, are one symbol. A place
is a line of a file; definitions are not counted.

precision: of our exact uses, those that at least two servers confirm.
recall: of the uses on which at least two servers agree, those that are exact uses of ours.
"""

import argparse
import ast
import hashlib
import json
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jedi
from codegraph.python_api import CodeGraph, build_graph_for_repo
from codegraph_lsp import Place, Server, found_servers

#: How many servers must agree.
AGREEING = 2
#: A server is ready when its answers for so many symbols no longer change.
SETTLING = 8
SETTLING_PAUSE_S = 3.0
SETTLING_S = 300.0
#: Folders in which servers do not look, beside those whose names begin with a dot.
IGNORED = {"node_modules", "__pycache__"}


@dataclass
class Symbol:
    """A symbol, where it is defined (file, line, column), and its references by each server."""

    id: str
    places: list[tuple[str, int, int]]
    is_shared: bool
    answers: dict[str, set[Place]] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--servers", type=Path, help="folder with their programs")
    parser.add_argument("--python", type=Path, help="interpreter of a virtual environment")
    parser.add_argument("--symbols", type=int, default=100, help="of each project")
    parser.add_argument("--list", action="store_true", help="every disagreement")
    parser.add_argument("--jedi", action="store_true", help="with jedi's opinion of each")
    parser.add_argument("--answers", type=Path, help="folder that keeps the servers' answers")
    arguments = parser.parse_args()
    servers = found_servers(arguments.servers)
    if len(servers) < AGREEING:
        print(f"At least two language servers are needed; found: {sorted(servers)}.\n", __doc__)
        return 2
    tally: Counter[str] = Counter()
    print(f"{'project':<28} symbols    ours  agreed  precision  recall   by one  all agree")
    for project in arguments.projects:
        with tempfile.TemporaryDirectory() as scratch:
            root = copied(project, Path(scratch).resolve())
            tally += compared(root, servers, arguments)
    told("in all", tally)
    return 0


def copied(project: Path, scratch: Path) -> Path:
    root = scratch / project.resolve().name
    for path in sorted([*project.rglob("*.py"), *project.rglob("*.pyi")]):
        inside = path.relative_to(project)
        hidden = any(part.startswith(".") or part in IGNORED for part in inside.parts)
        if not hidden and path.is_file():
            (root / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / inside)
    return root


def compared(
    root: Path, servers: dict[str, list[str]], arguments: argparse.Namespace
) -> Counter[str]:
    symbols = sampled(root, arguments.symbols)
    kept = arguments.answers and arguments.answers / f"{root.name}.json"
    if not (kept and recalled(symbols, kept)):
        ask_all(symbols, servers, root, arguments.python)
        if kept:
            remember(symbols, kept)
    build_graph_for_repo(root)
    graph = CodeGraph(root)
    tally: Counter[str] = Counter()
    for symbol in symbols:
        if len(symbol.answers) == len(servers):
            tally += scored(symbol, graph, root, arguments)
    told(root.name, tally)
    return tally


def told(name: str, tally: Counter[str]) -> None:
    ours, agreed = max(tally["ours"], 1), max(tally["agreed"], 1)
    print(
        f"{name:<28} {tally['symbols']:7} {tally['ours']:7} {tally['agreed']:7}"
        f"  {tally['both'] / ours:9.4f}  {tally['both'] / agreed:6.4f}"
        f"  {tally['by one'] / ours:7.4f}  {tally['found of all'] / max(tally['all'], 1):9.4f}",
        flush=True,
    )


# --- symbols --------------------------------------------------------------------------------


def sampled(root: Path, wanted: int) -> list[Symbol]:
    """Half methods of shared names, half others, in the order of a hash."""
    found: dict[str, Symbol] = {}
    for path in [*sorted(root.rglob("*.py")), *sorted(root.rglob("*.pyi"))]:
        file = path.relative_to(root).as_posix()
        described = (
            file[:-1] if file.endswith(".pyi") and path.with_suffix(".py").exists() else file
        )
        for qualified, kind, line, column in defined(path):
            known = f"{described}:{qualified}"
            symbol = found.setdefault(known, Symbol(known, [], kind == "method"))
            symbol.places.append((file, line, column))
    found = {s: symbol for s, symbol in found.items() if s.startswith(f"{symbol.places[0][0]}:")}
    names = Counter(last_name(symbol) for symbol in found)
    for symbol in found.values():
        symbol.is_shared &= names[last_name(symbol.id)] > 1
    ordered = sorted(found.values(), key=lambda symbol: hashlib.sha256(symbol.id.encode()).digest())
    shared = [symbol for symbol in ordered if symbol.is_shared][: wanted // 2]
    others = [symbol for symbol in ordered if not symbol.is_shared][: wanted - wanted // 2]
    return shared + others


def last_name(symbol: str) -> str:
    return symbol.rpartition(":")[2].rpartition(".")[2]


def defined(path: Path) -> Iterator[tuple[str, str, int, int]]:
    """Full name, kind, line and column of each definition but tests and dunder methods."""
    try:
        text = path.read_text()
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.split("\n")
    yield from _inside(tree, "", is_class=False, lines=lines)


def _inside(
    node: ast.AST, outer: str, *, is_class: bool, lines: list[str]
) -> Iterator[tuple[str, str, int, int]]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _inside(child, outer, is_class=is_class, lines=lines)
            continue
        kind = "class" if isinstance(child, ast.ClassDef) else "method" if is_class else "function"
        name = child.name
        line = lines[child.lineno - 1]
        keyword = "class " if kind == "class" else "def "
        column = line.find(name, line.find(keyword) + len(keyword))
        if not name.startswith(("__", "test")) and column >= 0 and line.isascii():
            yield outer + name, kind, child.lineno, column
        yield from _inside(child, f"{outer}{name}.", is_class=kind == "class", lines=lines)


# --- servers --------------------------------------------------------------------------------


def ask_all(
    symbols: list[Symbol], servers: dict[str, list[str]], root: Path, python: Path | None
) -> None:
    threads = [
        threading.Thread(target=ask, args=(symbols, name, command, root, python))
        for name, command in servers.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ask(
    symbols: list[Symbol], name: str, command: list[str], root: Path, python: Path | None
) -> None:
    """Request the references of every symbol from one server; timeouts stay without an answer."""
    server = Server(command, root, python)
    try:
        settle(server, symbols[:SETTLING])
        for symbol in symbols:
            found = server.references(symbol.places)
            if found is not None:
                symbol.answers[name] = found
    finally:
        server.close()


def settle(server: Server, symbols: list[Symbol]) -> None:
    """Wait until answers stay the same: at first a server may know only opened files."""
    before: list[set[Place] | None] = []
    ends = time.monotonic() + SETTLING_S
    while time.monotonic() < ends:
        now = [server.references(symbol.places) for symbol in symbols]
        if now == before:
            return
        before = now
        time.sleep(SETTLING_PAUSE_S)


def remember(symbols: list[Symbol], kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    answers = {
        symbol.id: {name: sorted(found) for name, found in symbol.answers.items()}
        for symbol in symbols
    }
    kept.write_text(json.dumps(answers))


def recalled(symbols: list[Symbol], kept: Path) -> bool:
    """Use the answers of an earlier run if it requested the same."""
    if not kept.exists():
        return False
    known = json.loads(kept.read_text())
    if known.keys() != {symbol.id for symbol in symbols}:
        return False
    for symbol in symbols:
        for name, places in known[symbol.id].items():
            symbol.answers[name] = {(file, line) for file, line in places}
    return True


# --- agreement ------------------------------------------------------------------------------


def scored(
    symbol: Symbol, graph: CodeGraph, root: Path, arguments: argparse.Namespace
) -> Counter[str]:
    definitions = {(file, line) for file, line, _ in symbol.places}
    votes = Counter(place for places in symbol.answers.values() for place in places - definitions)
    agreed = {place for place, count in votes.items() if count >= AGREEING}
    by_all = {place for place, count in votes.items() if count == len(symbol.answers)}
    ours = our_uses(graph, symbol) - definitions
    if arguments.list and ours != agreed:
        show(symbol, ours, agreed, root, with_jedi=arguments.jedi)
    return Counter(
        {
            "symbols": 1,
            "ours": len(ours),
            "agreed": len(agreed),
            "both": len(ours & agreed),
            "by one": len(ours & votes.keys()),
            "all": len(by_all),
            "found of all": len(ours & by_all),
        }
    )


def our_uses(graph: CodeGraph, symbol: Symbol) -> set[Place]:
    items = graph.where_used(symbol.id, 1_000_000).items
    return {(i.file, i.line) for i in items if i.confidence == "exact" and i.kind != "definition"}


def show(
    symbol: Symbol, ours: set[Place], agreed: set[Place], root: Path, *, with_jedi: bool
) -> None:
    fourth = jedi_uses(symbol, root) if with_jedi else set()
    for place in sorted(ours ^ agreed):
        said = [name for name, places in symbol.answers.items() if place in places]
        said += ["jedi"] if place in fourth else []
        line = (root / place[0]).read_text().split("\n")[place[1] - 1].strip()
        mark = "only ours" if place in ours else "not ours"
        print(f"  {mark}: {symbol.id} at {place[0]}:{place[1]} {said}: {line[:100]}")


def jedi_uses(symbol: Symbol, root: Path) -> set[Place]:
    found = set()
    for file, line, column in symbol.places:
        script = jedi.Script(path=root / file, project=jedi.Project(root))
        for name in script.get_references(line, column):
            if name.module_path and name.module_path.is_relative_to(root):
                found.add((name.module_path.relative_to(root).as_posix(), name.line))
    return found


if __name__ == "__main__":
    sys.exit(main())
