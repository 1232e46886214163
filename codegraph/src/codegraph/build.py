"""Build the graph of a repository incrementally: read and link only what has changed.

read changed files -> facts -> find the files that looked up something that changed -> link them ->
write the graph and the cache for the next build.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from codegraph.errors import GraphMissing
from codegraph.facts import MEMBERS, MODULES, FileFacts, defined_names
from codegraph.infer.linker import FileLinker
from codegraph.models import VARIABLE_KINDS, BuildReport, FileStat
from codegraph.module_index import ModuleIndex, packages_of
from codegraph.path_aliases import PathAliases, is_config
from codegraph.read.languages import has_reader, language_of, read_facts
from codegraph.source_text import content_hash, decoded, is_binary
from codegraph.store.artifact import (
    CachedFile,
    FileRecord,
    decode_artifact,
    decode_build_cache,
    decode_facts,
    decode_part,
    encode_artifact,
    encode_build_cache,
    encode_facts,
    encode_part,
)
from codegraph.store.freshness import RecordedFiles, is_current
from codegraph.store.repository import FACTS_NAME, GRAPH_NAME, MAX_FILE_BYTES, Repository

#: Called with the number of steps done and the number of all steps.
Progress = Callable[[int, int], None]


def build_graph_for_repo(
    repo_root: Path | str, *, on_progress: Progress | None = None
) -> BuildReport:
    """Write the graph of *repo_root* to `.judge/rag_graph.json` and report what was done.

    Raise BadRepository when the folder cannot be read or written.
    """
    repository = Repository(repo_root)
    progress = on_progress or (lambda _done, _total: None)
    try:
        return _Builder(repository, progress, _last_build(repository)).run()
    except (msgspec.DecodeError, GraphMissing):  # what the last build left is damaged
        return _Builder(repository, progress, _NO_BUILD).run()


class _LastBuild(NamedTuple):
    """The output of the last build: its files, their parts of the graph, and its cache."""

    recorded: RecordedFiles
    parts: dict[str, msgspec.Raw]
    cache: dict[str, CachedFile]


_NO_BUILD = _LastBuild(RecordedFiles({}, 0), {}, {})


def _last_build(repository: Repository) -> _LastBuild:
    """The output of the last build; empty when there was none, or by another builder."""
    try:
        content, written_ns = repository.graph()
        artifact = decode_artifact(content)
        parts = artifact.parts()
    except GraphMissing:
        return _NO_BUILD
    if not is_current(artifact):
        return _NO_BUILD
    cache = decode_build_cache(repository.facts(), content)
    if cache.keys() != parts.keys():
        cache = {}
    return _LastBuild(RecordedFiles.from_artifact(artifact, written_ns), parts, cache)


class _Builder:
    """One build; *last* is the output of the one before."""

    def __init__(self, repository: Repository, on_progress: Progress, last: _LastBuild) -> None:
        self._repository = repository
        self._on_progress = on_progress
        self._last = last
        self._old_cache = last.cache
        self._new_cache: dict[str, CachedFile] = {}
        self._parts: dict[str, msgspec.Raw] = {}
        self._facts: dict[str, FileFacts] = {}
        self._read = 0

    def run(self) -> BuildReport:
        files = self._repository.files()
        records = []
        for done, (path, stat) in enumerate(files.items()):
            records.append(self._record(path, stat))
            self._on_progress(done, 2 * len(files))
        linked = self._link(records)
        self._on_progress(2 * len(files), 2 * len(files))
        self._write(records)
        return BuildReport(
            files=len(records),
            nodes=sum(part.counts[0] for part in self._new_cache.values()),
            edges=sum(part.counts[1] for part in self._new_cache.values()),
            read=self._read,
            linked=linked,
            unparsed=tuple(r.path for r in records if r.status == "syntax-error"),
            submodules=tuple(self._repository.submodules()),
        )

    def _write(self, records: list[FileRecord]) -> None:
        """Write the graph, then the cache."""
        parts = [self._parts.get(path) or self._last.parts[path] for path in self._new_cache]
        graph = encode_artifact(records, parts)
        self._repository.write(GRAPH_NAME, graph)
        self._repository.write(FACTS_NAME, encode_build_cache(self._new_cache, graph))

    # --- reading ----------------------------------------------------------------------------

    def _record(self, path: str, stat: FileStat) -> FileRecord:
        """The record of a file, taken from the last build if the file has not changed."""
        unchanged = self._last.recorded.unchanged(path, stat)
        if unchanged is not None and unchanged.status != "parsed":
            # The extra for its language may have been installed since.
            is_readable_now = unchanged.status == "text" and has_reader(unchanged.lang)
            if not is_readable_now:
                return unchanged
        old = self._old_cache.get(path)
        if unchanged is not None and old is not None and old.hash == unchanged.hash:
            self._new_cache[path] = old
            return unchanged
        content = None if stat.size > MAX_FILE_BYTES else self._repository.read(path)
        language = language_of(path)
        digest = content_hash(content) if content is not None else ""
        status = self._status(path, language, content, digest, stat)
        return FileRecord(path, language, digest, stat.size, stat.mtime_ns, status)

    def _status(
        self, path: str, language: str, content: bytes | None, digest: str, stat: FileStat
    ) -> str:
        """The `FileRecord.status` of a file, which is read into facts unless they are cached."""
        if content is None:
            return "too-large" if stat.size > MAX_FILE_BYTES else "unreadable"
        if is_binary(content):
            return "binary"
        old = self._old_cache.get(path)
        if old is not None and old.hash == digest:
            self._new_cache[path] = old
            return "parsed"
        self._read += 1
        try:
            facts = read_facts(language, decoded(content))
        except SyntaxError:
            return "syntax-error"
        if facts is None:
            return "text"
        self._facts[path] = facts
        self._new_cache[path] = CachedFile(digest, encode_facts(facts))
        return "parsed"

    def _load(self, path: str) -> FileFacts | None:
        facts = self._facts.get(path)
        if facts is None and path in self._new_cache:
            facts = self._facts[path] = decode_facts(self._new_cache[path].facts)
        return facts

    # --- linking ----------------------------------------------------------------------------

    def _link(self, records: list[FileRecord]) -> int:
        """Link the files whose edges may have changed; return how many."""
        old, new, files = self._old_cache, self._new_cache, len(records)
        changed = {path for path in old.keys() | new.keys() if old.get(path) is not new.get(path)}
        configs = {record.path: record.hash for record in records if is_config(record.path)}
        last = self._last.recorded.by_path.values()
        has_new_aliases = configs != {r.path: r.hash for r in last if is_config(r.path)}
        if not changed and not has_new_aliases:
            return 0
        modules = ModuleIndex(new, PathAliases({path: self._text(path) for path in configs}))
        unchanged = self._stored_names(new.keys() - changed)
        facts = {path: self._facts[path] for path in new.keys() & changed}
        names = unchanged | _names_in(facts, modules)
        if has_new_aliases or changed >= new.keys():
            stale = list(new)
        else:
            stale = self._stale_paths(changed, modules, unchanged, names)
        for done, path in enumerate(stale):
            linked = FileLinker(path, modules, self._load, names).link()
            self._parts[path] = encode_part(linked.part)
            new[path] = replace(
                new[path],
                counts=(len(linked.part.nodes), len(linked.part.edges)),
                lookups={key: sorted(looked_up) for key, looked_up in linked.lookups.items()},
            )
            self._on_progress(files + files * (done + 1) // len(stale), 2 * files)
        return len(stale)

    def _text(self, path: str) -> str:
        return decoded(self._repository.read(path) or b"")

    def _stored_names(self, paths: Iterable[str]) -> set[str]:
        """The names of the modules at *paths* and of their definitions, from the last graph."""
        return {
            ("." if node.kind in VARIABLE_KINDS else "") + node.fqn.rpartition(".")[2]
            for path in paths
            for node in decode_part(self._last.parts[path]).nodes
        }

    def _stale_paths(
        self, changed: set[str], modules: ModuleIndex, unchanged: set[str], names: set[str]
    ) -> list[str]:
        """The files that changed, and those that looked up a name that changed.

        *names* are those of the whole repository, *unchanged* those in files that are the same.
        """
        old, new = self._old_cache, self._new_cache
        before = ModuleIndex(old) if old.keys() != new.keys() else modules
        facts = {path: decode_facts(old[path].facts) for path in old.keys() & changed}
        members = (unchanged | _names_in(facts, before)) ^ names
        # In the form of `CachedFile.lookups`.
        changes = {p: _changed_bindings(facts.get(p), self._facts.get(p)) for p in changed}
        changes[MEMBERS] = {name.removeprefix(".") for name in members}
        changes[MODULES] = _changed_modules(before, modules)
        return [
            path
            for path, file in new.items()
            if path in changed
            or before.names.get(path) != modules.names[path]
            or any(
                "*" in changes[key] or not changes[key].isdisjoint(file.lookups[key])
                for key in changes.keys() & file.lookups.keys()
            )
        ]


def _names_in(facts: dict[str, FileFacts], modules: ModuleIndex) -> set[str]:
    """The names of the modules with these *facts*, by path, and of their definitions."""
    return set().union(*(defined_names(f) | {modules.last_name(p)} for p, f in facts.items()))


def _changed_modules(before: ModuleIndex, after: ModuleIndex) -> set[str]:
    """The importable names that were added, removed or moved, and their packages."""
    return {
        prefix
        for name, _ in before.known_names() ^ after.known_names()
        for prefix in (name, *packages_of(name))
    }


def _changed_bindings(old: FileFacts | None, new: FileFacts | None) -> set[str]:
    """The module-level names whose bindings differ; `*` when star imports do."""
    before = _fingerprints(old) if old else {}
    after = _fingerprints(new) if new else {}
    return {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}


def _fingerprints(facts: FileFacts) -> dict[str, str]:
    """The fingerprints of module-level names, of `__all__` and of star imports (`*`)."""
    exports = ",".join(facts.exports) if facts.exports is not None else "-"
    return {**facts.fingerprints, "__all__": exports, "*": str(facts.star_imports)}
