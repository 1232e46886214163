"""How far the exact uses of the code graph agree with TypeScript's own language service.

    python benchmarks/codegraph_typescript.py PROJECT... --modules NODE_MODULES [--list]

PROJECT is a folder with `.ts` files, such as the `src` of a package; it needs `node` on the PATH
and the package `typescript` in NODE_MODULES, for example after `npm install typescript@5`. Up to
`--symbols` of each project are picked by the hash of their names, as many of each kind. A place is
a line of a file; definitions and comments do not count.

precision: of our exact uses, those that the service has too.
recall: of its uses, those that are exact uses of ours. Unlike Judge, the
service treats a method and its overrides as one symbol, and follows inferred types.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from codegraph.models import Node, symbol_id
from codegraph.python_api import CodeGraph, build_graph_for_repo
from codegraph.query.graph import Graph
from codegraph.store.artifact import decode_artifact
from codegraph.store.repository import GRAPH_NAME

_REFERENCES = """
const ts = require('typescript'), fs = require('fs'), path = require('path');
const { root, files, questions } = JSON.parse(fs.readFileSync(0, 'utf8'));
const names = files.map(file => path.join(root, file));
const options = { target: 99, module: 99, moduleResolution: 100, strict: true, jsx: 1 };
const service = ts.createLanguageService({
  ...ts.sys, useCaseSensitiveFileNames: () => true,
  getCompilationSettings: () => options, getScriptFileNames: () => names,
  getScriptVersion: () => '1', getCurrentDirectory: () => root,
  getScriptSnapshot: file => ts.sys.fileExists(file)
    ? ts.ScriptSnapshot.fromString(ts.sys.readFile(file)) : undefined,
  getDefaultLibFileName: one => ts.getDefaultLibFilePath(one),
});
const source = file => service.getProgram().getSourceFile(file);
console.log(JSON.stringify(questions.map(({ file, line, column }) => {
  const full = path.join(root, file);
  const at = source(full).getPositionOfLineAndCharacter(line - 1, column);
  const found = (service.findReferences(full, at) || []).flatMap(one => one.references);
  return found.map(one => ({
    file: path.relative(root, one.fileName), isDefinition: !!one.isDefinition,
    line: source(one.fileName).getLineAndCharacterOfPosition(one.textSpan.start).line + 1,
  }));
})));
"""
_COMMENTS = ("//", "/*", "*")

Place = tuple[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--modules", type=Path, required=True, help="folder with `typescript`")
    parser.add_argument("--symbols", type=int, default=200, help="of each project")
    parser.add_argument("--list", action="store_true", help="uses that only we have")
    arguments = parser.parse_args()
    for project in arguments.projects:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch).resolve() / project.name
            shutil.copytree(project, root, ignore=shutil.ignore_patterns("node_modules", ".*"))
            compare(root, arguments)


def compare(root: Path, arguments: argparse.Namespace) -> None:
    build_graph_for_repo(root)
    artifact = decode_artifact((root / GRAPH_NAME).read_bytes())
    files = [one.path for one in artifact.files if one.lang in ("typescript", "tsx")]
    lines = {file: (root / file).read_text().split("\n") for file in files}
    picked = sampled(Graph(artifact), arguments.symbols)
    places = [(symbol, place) for symbol, nodes in picked.items() for place in named(nodes, lines)]
    questions = [{"file": file, "line": line, "column": at} for _, (file, line, at) in places]
    theirs, definitions = defaultdict[str, set[Place]](set), defaultdict[str, set[Place]](set)
    for (symbol, _), found in zip(places, asked(root, files, questions, arguments), strict=True):
        for one in found:
            place = one["file"], one["line"]
            if one["file"] in lines:
                (definitions if one["isDefinition"] else theirs)[symbol].add(place)
    graph, tally = CodeGraph(root), Counter[str]()
    for symbol in theirs.keys() | definitions.keys():
        items = graph.where_used(symbol, 1_000_000).items
        known = definitions[symbol] | {(i.file, i.line) for i in items if i.kind == "definition"}
        ours = {(i.file, i.line) for i in items if i.confidence == "exact"} - known
        uses = {one for one in theirs[symbol] - known if not is_comment(one, lines)}
        ours = {one for one in ours if not is_comment(one, lines)}
        tally.update(symbols=1, ours=len(ours), theirs=len(uses), both=len(ours & uses))
        for file, line in sorted(ours - uses) if arguments.list else ():
            print(f"  only ours: {symbol} at {file}:{line}: {lines[file][line - 1].strip()[:100]}")
    precision, recall = (tally["both"] / max(tally[one], 1) for one in ("ours", "theirs"))
    print(
        f"{root.name:<20} {tally['symbols']:4} symbols, {tally['ours']:5} uses by us, "
        f"{tally['theirs']:5} by the service, precision {precision:.4f}, recall {recall:.4f}"
    )


def sampled(graph: Graph, wanted: int) -> dict[str, list[Node]]:
    """Symbols with their definitions, as many of each kind, in the order of a hash."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for node in graph.nodes():
        name = symbol_id(node.id).rpartition(":")[2].rpartition(".")[2]
        if node.kind != "module" and name.isidentifier() and name != "constructor":
            by_kind[node.kind].append(symbol_id(node.id))
    picked = [
        symbol
        for symbols in by_kind.values()
        for symbol in sorted(set(symbols), key=lambda s: hashlib.sha256(s.encode()).digest())[
            : wanted // len(by_kind)
        ]
    ]
    return {symbol: graph.definitions(symbol) for symbol in picked}


def named(nodes: list[Node], lines: dict[str, list[str]]) -> list[tuple[str, int, int]]:
    """The file, line and column of the name of each definition."""
    found = []
    for node in nodes:
        name = symbol_id(node.id).rpartition(":")[2].rpartition(".")[2]
        column = lines[node.file][node.line - 1].find(name)
        if column >= 0:
            found.append((node.file, node.line, column))
    return found


def asked(
    root: Path, files: list[str], questions: list[dict[str, object]], arguments: argparse.Namespace
) -> list[list[dict[str, object]]]:
    """The service's references to the symbol at each place."""
    done = subprocess.run(
        ["node", "-e", _REFERENCES],
        input=json.dumps({"root": str(root), "files": files, "questions": questions}),
        capture_output=True,
        text=True,
        check=False,
        cwd=arguments.modules.resolve().parent,
    )
    if done.returncode:
        sys.exit(done.stderr)
    answers: list[list[dict[str, object]]] = json.loads(done.stdout)
    return answers


def is_comment(place: Place, lines: dict[str, list[str]]) -> bool:
    file, line = place
    return lines[file][line - 1].strip().startswith(_COMMENTS)


if __name__ == "__main__":
    main()
