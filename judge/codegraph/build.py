"""Build the graph of a repository, reading and linking only what has changed.

read changed files -> facts -> which files looked up something that changed -> link those ->
write the graph and what the next build may use again.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from judge.codegraph.facts import (
    IMPORTS,
    FileFacts,
    defined_names,
    imported_modules,
    variable_names,
)
from judge.codegraph.infer.linker import link_file
from judge.codegraph.models import BuildReport
from judge.codegraph.module_index import ModuleIndex
from judge.codegraph.read.languages import language_of, read_facts
from judge.codegraph.source_text import content_hash, decoded, is_binary
from judge.codegraph.store.artifact import (
    BUILDER,
    BuildCache,
    CachedFile,
    FileRecord,
    collection_paused,
    decode_build_cache,
    decode_facts,
    encode_artifact,
    encode_build_cache,
    encode_edges,
    encode_facts,
    encode_nodes,
)
from judge.codegraph.store.freshness import RecordedFiles
from judge.codegraph.store.repository import (
    FACTS_NAME,
    GRAPH_NAME,
    MAX_FILE_BYTES,
    FileStat,
    Repository,
)

#: Called with the number of steps done and the number there are.
Progress = Callable[[int, int], None]

#: Language and text -> facts, as `languages.read_facts` does it.
ReadFacts = Callable[[str, str], FileFacts | None]


def build_graph_for_repo(
    repo_root: Path | str,
    *,
    on_progress: Progress | None = None,
    read: ReadFacts = read_facts,
) -> BuildReport:
    """Write the graph of *repo_root* to `.judge/rag_graph.json` and say what was done.

    *read* turns the text of a file into facts, or None for a language it does not know.
    Raise BadRepository when the folder cannot be read or written.
    """
    repository = Repository(repo_root)
    with collection_paused():
        return _Builder(repository, on_progress or (lambda _done, _total: None), read).run()


class _Builder:
    def __init__(self, repository: Repository, on_progress: Progress, read: ReadFacts) -> None:
        self._repository = repository
        self._read_facts = read
        self._on_progress = on_progress
        self._graph = repository.old_graph()
        self._old = decode_build_cache(repository.facts(), self._graph).files
        self._recorded = RecordedFiles.of(repository)
        self._new: dict[str, CachedFile] = {}
        #: The nodes and edges of each file, encoded.
        self._parts: dict[str, tuple[bytes, bytes]] = {}
        self._facts: dict[str, FileFacts] = {}
        self._read = 0

    def run(self) -> BuildReport:
        files = self._repository.files()
        records = []
        for done, (path, known) in enumerate(files.items()):
            records.append(self._record(path, known))
            self._on_progress(done, 2 * len(files))
        modules = ModuleIndex(self._new)
        linked = self._link(modules, len(files))
        self._on_progress(2 * len(files), 2 * len(files))
        self._write(records)
        return BuildReport(
            files=len(records),
            nodes=sum(part.counts[0] for part in self._new.values()),
            edges=sum(part.counts[1] for part in self._new.values()),
            read=self._read,
            linked=linked,
            unparsed=tuple(r.path for r in records if r.status == "syntax-error"),
        )

    def _write(self, records: list[FileRecord]) -> None:
        """Write the graph, then what the next build may use again of it."""
        paths = sorted(self._new)
        parts = [self._parts.get(path) or self._old_parts(path) for path in paths]
        graph, nodes, edges = encode_artifact(
            records, [part[0] for part in parts], [part[1] for part in parts]
        )
        cached = {
            path: replace(self._new[path], nodes=nodes[place], edges=edges[place])
            for place, path in enumerate(paths)
        }
        self._repository.write(GRAPH_NAME, graph)
        cache = BuildCache(BUILDER, zlib.crc32(graph), cached)
        self._repository.write(FACTS_NAME, encode_build_cache(cache))

    def _old_parts(self, path: str) -> tuple[bytes, bytes]:
        one = self._new[path]
        return self._graph[slice(*one.nodes)], self._graph[slice(*one.edges)]

    # --- reading ----------------------------------------------------------------------------

    def _record(self, path: str, known: FileStat) -> FileRecord:
        """The record of a file, from the last build when nothing has changed."""
        before = self._recorded.unchanged(path, known)
        if before is not None and before.status != "parsed":
            return before
        old = self._old.get(path)
        if before is not None and old is not None and old.hash == before.hash:
            self._new[path] = old
            return before
        content = None if known.size > MAX_FILE_BYTES else self._repository.read(path)
        if content is not None and len(content) > MAX_FILE_BYTES:
            content = None
        language = language_of(path)
        found = content_hash(content) if content is not None else ""
        status = self._status(path, language, content, found, known)
        return FileRecord(path, language, found, known.size, known.mtime_ns, status)

    def _status(
        self, path: str, language: str, content: bytes | None, found: str, known: FileStat
    ) -> str:
        if content is None:
            return "too-large" if known.size > MAX_FILE_BYTES else "unreadable"
        if is_binary(content):
            return "binary"
        old = self._old.get(path)
        if old is not None and old.hash == found:
            self._new[path] = old
            return "parsed"
        self._read += 1
        try:
            facts = self._read_facts(language, decoded(content))
        except SyntaxError:
            return "syntax-error"
        if facts is None:
            return "text"
        self._facts[path] = facts
        names = sorted(defined_names(facts))
        variables = sorted(variable_names(facts))
        encoded, fingerprints = encode_facts(facts), _fingerprints(facts)
        self._new[path] = CachedFile(found, encoded, names, variables, fingerprints)
        return "parsed"

    def _load(self, path: str) -> FileFacts | None:
        known = self._facts.get(path)
        if known is None and path in self._new:
            known = self._facts[path] = decode_facts(self._new[path].facts)
        return known

    # --- linking ----------------------------------------------------------------------------

    def _link(self, modules: ModuleIndex, files: int) -> int:
        names = _known_names(modules, self._new)
        variables = _known_variables(self._new)
        stale = self._to_link(modules, names | variables)
        for done, path in enumerate(stale):
            linked = link_file(path, modules, self._load, names, variables)
            self._parts[path] = (encode_nodes(linked.nodes), encode_edges(linked.edges))
            self._new[path] = replace(
                self._new[path],
                counts=(len(linked.nodes), len(linked.edges)),
                looked_up={k: sorted(v) for k, v in linked.looked_up.items()},
                asked_modules=sorted(linked.asked_modules),
                asked_names=sorted(linked.asked_names),
            )
            self._on_progress(files + files * (done + 1) // len(stale), 2 * files)
        return len(stale)

    def _to_link(self, modules: ModuleIndex, names: set[str]) -> list[str]:
        """The files that changed, and those that looked up something that did."""
        old, new = self._old, self._new
        changed = {path for path in old.keys() | new.keys() if old.get(path) is not new.get(path)}
        if not changed:
            return []
        before = ModuleIndex(old)
        changed_modules = {
            prefix
            for name, _ in before.known_names() ^ modules.known_names()
            for prefix in (name, *_packages_of(name))
        }
        changed_names = (_known_names(before, old) | _known_variables(old)) ^ names
        bindings = {path: _changed_bindings(old.get(path), new.get(path)) for path in changed}
        return [
            path
            for path, part in new.items()
            if path in changed
            or not changed_modules.isdisjoint(part.asked_modules)
            or not changed_names.isdisjoint(part.asked_names)
            or any(
                "*" in bindings[other] or not bindings[other].isdisjoint(looked_up)
                for other, looked_up in part.looked_up.items()
                if other in bindings
            )
        ]


def _fingerprints(facts: FileFacts) -> dict[str, str]:
    """What a module binds, by name, with marks for what `import *` takes and what it imports."""
    exports = ",".join(facts.exports) if facts.exports is not None else "-"
    marks = {"__all__": exports, "*": str(facts.stars)}
    return {
        **facts.fingerprints,
        **marks,
        IMPORTS: str(sorted(imported_modules(facts, inside=True))),
    }


def _changed_bindings(old: CachedFile | None, new: CachedFile | None) -> set[str]:
    before = old.fingerprints if old else {}
    after = new.fingerprints if new else {}
    return {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}


def _packages_of(name: str) -> list[str]:
    """`a` and `a.b` for `a.b.c`: namespaces that come and go with their modules."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _known_names(modules: ModuleIndex, cached: dict[str, CachedFile]) -> set[str]:
    """The names of all definitions and modules."""
    names = {name.rpartition(".")[2] for name in modules.names.values()}
    for part in cached.values():
        names.update(part.names)
    return names


def _known_variables(cached: dict[str, CachedFile]) -> set[str]:
    """The names of all module variables and attributes."""
    return {name for part in cached.values() for name in part.variables}
