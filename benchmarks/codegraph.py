"""How fast and how accurate the code graph is.

    python benchmarks/codegraph.py [speed [FOLDER...]]    time and size, jedi beside it
    python benchmarks/codegraph.py accuracy [FOLDER...]   precision and recall against jedi

FOLDER is any folder with Python files; without one, some installed packages are used. It is copied
to a temporary folder first. `speed` prints the budget beside each figure and exits 1 when one is
missed.
CPU seconds are those of this process and its children; wall-clock seconds are marked.
"""

import argparse
import ast
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jedi
from codegraph.models import VARIABLE_KINDS, Node, symbol_id
from codegraph.python_api import CodeGraph, build_graph_for_repo
from codegraph.query.graph import Graph
from codegraph.store.artifact import decode_artifact
from codegraph.store.repository import FACTS_NAME, GRAPH_NAME

BUILD_CPU_S_PER_100K_LINES = 5.0
COMMAND_S = 0.5
LOADED_MS = 20.0

#: jedi's time limit; it resolves whole files until this is used up.
JEDI_S = 20.0
SEED = 7
PACKAGES = ("litestar", "pypdf", "_pytest", "httpx")


def installed(*names: str) -> list[Path]:
    """The folders of installed packages."""
    return [Path(sysconfig.get_path("purelib")) / name for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["speed", "accuracy"], nargs="?", default="speed")
    parser.add_argument("folders", nargs="*", type=Path, default=installed(*PACKAGES))
    parser.add_argument("--symbols", type=int, default=60, help="sampled for accuracy")
    parser.add_argument("--seconds", type=float, default=300.0, help="of jedi for accuracy")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = copied(arguments.folders, Path(scratch))
        if arguments.what == "speed":
            return speed(root)
        return accuracy(root, arguments.symbols, arguments.seconds)


def copied(folders: list[Path], scratch: Path) -> Path:
    root = scratch / "repository"
    for folder in folders:
        ignored = shutil.ignore_patterns("__pycache__", "*.so", ".git", ".judge")
        shutil.copytree(folder, root / folder.name, ignore=ignored, symlinks=True)
    return root


def cpu_s() -> float:
    usages = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def told(label: str, value: float, unit: str, budget: float | None = None) -> bool:
    verdict = "" if budget is None else f"  (budget {budget:g} {unit})"
    print(f"{label:<44} {value:8.2f} {unit}{verdict}")
    return budget is None or value <= budget


# --- speed ----------------------------------------------------------------------------------


def speed(root: Path) -> int:
    sources = sorted(root.rglob("*.py"))
    lines = sum(len(path.read_bytes().splitlines()) for path in sources)
    print(f"{len(sources)} Python files, {lines} lines")
    start = cpu_s()
    report = build_graph_for_repo(root)
    ok = told(
        "build, CPU per 100,000 lines",
        (cpu_s() - start) / lines * 1e5,
        "s",
        BUILD_CPU_S_PER_100K_LINES,
    )
    told("  ast.parse alone", parse_cpu_s(sources) / lines * 1e5, "s")
    told("  jedi, all names of some files", jedi_cpu_s_per_line(root, sources) * 1e5, "s")
    pyright = pyright_cpu_s(root)
    if pyright is None:
        print("  pyright: not on the PATH")
    else:
        told("  pyright, checking every file", pyright / lines * 1e5, "s")
    told("artifact", (root / GRAPH_NAME).stat().st_size / 1e6, "MB")
    told("  per 100,000 lines", (root / GRAPH_NAME).stat().st_size / 1e6 / lines * 1e5, "MB")
    told("kept facts", (root / FACTS_NAME).stat().st_size / 1e6, "MB")
    print(f"{report.nodes} nodes, {report.edges} edges")
    symbol = most_used(root)
    print(f"where-used of {symbol}, CPU of the whole command, least of 5")
    ok &= told("  of what is there", command_s(root, symbol), "s", COMMAND_S)
    changed = edited_command_s(root, symbol, sources)
    ok &= told("  after an edit, with --refresh", changed, "s", COMMAND_S)
    for label, ask in questions(root, symbol).items():
        ok &= told(f"  {label} in a loaded process, median", loaded_ms(ask), "ms", LOADED_MS)
    return 0 if ok else 1


def parse_cpu_s(sources: list[Path]) -> float:
    texts = [path.read_bytes() for path in sources]
    start = cpu_s()
    for text in texts:
        ast.parse(text)
    return cpu_s() - start


def jedi_cpu_s_per_line(root: Path, sources: list[Path]) -> float:
    """jedi's time to resolve each name of a file to its definition."""
    project = jedi.Project(root)
    start, lines = cpu_s(), 0
    for path in random.Random(SEED).sample(sources, len(sources)):
        if cpu_s() - start > JEDI_S:
            break
        text = path.read_text()
        script = jedi.Script(text, path=path, project=project)
        for name in script.get_names(all_scopes=True, definitions=False, references=True):
            if cpu_s() - start > 2 * JEDI_S:
                break
            name.goto(follow_imports=True)
        lines += text.count("\n") + 1
    return (cpu_s() - start) / lines


def pyright_cpu_s(root: Path) -> float | None:
    """Pyright's time to infer every type once, if it is installed."""
    command = shutil.which("pyright") or shutil.which("basedpyright")
    if command is None:
        return None
    start = cpu_s()
    subprocess.run([command, str(root)], check=False, capture_output=True, timeout=600)
    return cpu_s() - start


def most_used(root: Path) -> str:
    graph = stored_graph(root)
    counted = Counter(
        edge.dst
        for node in graph.nodes()
        for edge in graph.edges_from(node.id)
        if edge.kind == "calls" and edge.confidence == "exact"
    )
    ids = (symbol for symbol, _ in counted.most_common() if graph.kind(symbol) == "method")
    return next(ids)


def command_s(root: Path, symbol: str) -> float:
    command = [sys.executable, "-m", "judge", "code", "where-used", "-r", str(root), "-s", symbol]
    return min(run_cpu_s(command) for _ in range(5))


def edited_command_s(root: Path, symbol: str, sources: list[Path]) -> float:
    """The least of five edits, one file each."""
    command = [sys.executable, "-m", "judge", "code", "where-used", "-r", str(root), "-s", symbol]
    taken = []
    for path in random.Random(SEED).sample(sources, min(5, len(sources))):
        with path.open("a") as file:
            file.write("\n\ndef added_by_the_benchmark():\n    return 1\n")
        taken.append(run_cpu_s([*command, "--refresh"]))
    return min(taken)


def run_cpu_s(command: list[str]) -> float:
    start = cpu_s()
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return cpu_s() - start


def questions(root: Path, symbol: str) -> dict[str, Callable[[], object]]:
    graph = CodeGraph(root)
    return {
        "where-used": lambda: graph.where_used(symbol),
        "lineage": lambda: graph.lineage(symbol, "downstream"),
        "search": lambda: graph.search("def "),
    }


def loaded_ms(ask: Callable[[], object]) -> float:
    ask()
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


# --- accuracy -------------------------------------------------------------------------------


def accuracy(root: Path, symbols: int, seconds: float) -> int:
    """Compare the exact uses of sampled symbols, half methods of shared names, with jedi's."""
    build_graph_for_repo(root)
    graph = CodeGraph(root)
    project = jedi.Project(root)
    tally: Counter[str] = Counter()
    ends = time.monotonic() + seconds
    for path, line, column, symbol in sampled(root, symbols):
        with no_deeper_than(20_000):
            theirs = jedi_uses(project, root, path, line, column)
        if theirs is None or time.monotonic() > ends:
            continue
        result = graph.where_used(symbol, 100_000)
        exact = [item for item in result.items if item.confidence == "exact"]
        definitions = {(i.file, i.line) for i in exact if i.kind == "definition"}
        ours = {(i.file, i.line) for i in exact} - definitions
        theirs -= definitions
        tally.update(symbols=1, ours=len(ours), theirs=len(theirs), both=len(ours & theirs))
        tally.update(substring=substring_hits(graph, symbol))
    print(f"{tally['symbols']} symbols, {tally['theirs']} uses by jedi, {tally['ours']} by us")
    told("share of our uses that jedi has too", tally["both"] / max(tally["ours"], 1), "")
    told("share of jedi's uses that we have too", tally["both"] / max(tally["theirs"], 1), "")
    told("substring search, the first of these", tally["theirs"] / max(tally["substring"], 1), "")
    return 0


def substring_hits(graph: CodeGraph, symbol: str) -> int:
    found = graph.search(symbol.rpartition(".")[2].rpartition(":")[2], 100_000)
    return sum(len(item.lines) for item in found.items)


@contextmanager
def no_deeper_than(frames: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def jedi_uses(
    project: jedi.Project, root: Path, path: Path, line: int, column: int
) -> set[tuple[str, int]] | None:
    try:
        names = jedi.Script(path=path, project=project).get_references(line, column)
    except Exception as error:  # noqa: BLE001 - a peer's crash must not end the comparison
        print(f"jedi gave up on {path.name}:{line}: {type(error).__name__}", file=sys.stderr)
        return None
    places = ((name.module_path, name.line) for name in names if name.module_path)
    return {
        (place.relative_to(root).as_posix(), at)
        for place, at in places
        if place.is_relative_to(root)
    }


def sampled(root: Path, wanted: int) -> list[tuple[Path, int, int, str]]:
    """Where functions, classes and methods are defined, and their ids; no dunder methods."""
    graph = stored_graph(root)
    symbols = list(dict.fromkeys(symbol_id(node.id) for node in graph.nodes()))
    names: Counter[str] = Counter(s.rpartition(".")[2] for s in symbols)
    shared, others = [], []
    for symbol in symbols:
        name = symbol.rpartition(":")[2].rpartition(".")[2]
        if graph.kind(symbol) in {"module", *VARIABLE_KINDS} or name.startswith("__"):
            continue
        is_shared = graph.kind(symbol) == "method" and names[name] > 1
        (shared if is_shared else others).append(symbol)
    chosen = random.Random(SEED)
    picked = chosen.sample(shared, min(wanted // 2, len(shared)))
    picked += chosen.sample(others, min(wanted - len(picked), len(others)))
    found = (located(root, graph.definitions(symbol)[0]) for symbol in picked)
    return [place for place in found if place is not None]


def stored_graph(root: Path) -> Graph:
    return Graph(decode_artifact((root / GRAPH_NAME).read_bytes()))


def located(root: Path, node: Node) -> tuple[Path, int, int, str] | None:
    name = node.id.rpartition(":")[2].rpartition(".")[2]
    lines = (root / node.file).read_text().split("\n")
    for number in range(node.span[0], node.span[1] + 1):
        line = lines[number - 1]
        stripped = line.lstrip()
        if stripped.startswith((f"def {name}", f"async def {name}", f"class {name}")):
            return root / node.file, number, line.index(name, len(line) - len(stripped)), node.id
    return None


if __name__ == "__main__":
    sys.exit(main())
