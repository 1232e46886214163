"""Build the graph of a repository incrementally: read and link only what has changed.

read changed files -> facts -> find the files that looked up something that changed -> link them ->
write the graph and the cache for the next build.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from codegraph.errors import GraphMissing
from codegraph.facts import FileFacts, defined_names
from codegraph.infer.linker import FileLinker
from codegraph.models import BuildReport, FileStat
from codegraph.module_index import ModuleIndex, packages_of
from codegraph.path_aliases import PathAliases, is_config
from codegraph.read.languages import has_reader, language_of, read_facts
from codegraph.source_text import content_hash, decoded, is_binary
from codegraph.store import artifact
from codegraph.store.repository import FACTS_NAME, GRAPH_NAME, MAX_FILE_BYTES, Repository

#: Called with the number of steps done and the number of all steps.
Progress = Callable[[int, int], None]
_Files = dict[str, artifact.CachedFile]


def build_graph_for_repo(
    repo_root: Path | str, *, on_progress: Progress | None = None
) -> BuildReport:
    """Write the graph of *repo_root* to `.judge/rag_graph.json` and report what was done.

    Raise BadRepository when the folder cannot be read or written.
    """
    repository = Repository(repo_root)
    progress = on_progress or (lambda _done, _total: None)
    try:
        content, written_ns = repository.stored(FACTS_NAME)
        return _Builder(
            repository, progress, artifact.decode_build_cache(content), written_ns
        ).run()
    except (msgspec.DecodeError, GraphMissing):  # what the last build left is damaged
        return _Builder(repository, progress, {}, 0).run()


class _Builder:
    """One build; *old* are the files of the one before, whose cache was *written_ns*."""

    def __init__(
        self, repository: Repository, on_progress: Progress, old: _Files, written_ns: int
    ) -> None:
        self._repository = repository
        self._on_progress = on_progress
        self._old, self._written_ns = old, written_ns
        self._new: _Files = {}
        self._facts: dict[str, FileFacts] = {}
        self._read = 0

    def run(self) -> BuildReport:
        files = self._repository.files()
        for done, (path, stat) in enumerate(files.items()):
            self._new[path] = self._file(path, stat)
            self._on_progress(done, 2 * len(files))
        linked = self._link()
        self._on_progress(2 * len(files), 2 * len(files))
        new = self._new.values()
        graph = artifact.encode_artifact([f.record for f in new], [f.part for f in new if f.facts])
        self._repository.write(GRAPH_NAME, graph)
        self._repository.write(FACTS_NAME, artifact.encode_build_cache(self._new))
        return BuildReport(
            files=len(files),
            nodes=sum(file.counts[0] for file in new),
            edges=sum(file.counts[1] for file in new),
            read=self._read,
            linked=linked,
            unparsed=tuple(f.record.path for f in new if f.record.status == "syntax-error"),
            submodules=tuple(self._repository.submodules()),
        )

    # --- reading ----------------------------------------------------------------------------

    def _file(self, path: str, stat: FileStat) -> artifact.CachedFile:
        """A file as it is now, taken from the last build if it has not changed."""
        old = self._old.get(path)
        if old is not None and old.record.is_unchanged(stat, self._written_ns):
            is_readable_now = old.record.status == "text" and has_reader(old.record.lang)
            if not is_readable_now:  # The extra for its language may have been installed since.
                return old
        content = None if stat.size > MAX_FILE_BYTES else self._repository.read(path)
        language = language_of(path)
        digest = content_hash(content) if content is not None else ""
        record = partial(artifact.FileRecord, path, language, digest, stat.size, stat.mtime_ns)
        if content is None:
            return artifact.CachedFile(
                record("too-large" if stat.size > MAX_FILE_BYTES else "unreadable")
            )
        if is_binary(content):
            return artifact.CachedFile(record("binary"))
        if old is not None and old.facts and old.record.hash == digest:
            return replace(old, record=record("parsed"))
        self._read += 1
        try:
            facts, status = read_facts(language, decoded(content)), "text"
        except SyntaxError:
            facts, status = None, "syntax-error"
        if facts is None:
            return artifact.CachedFile(record(status))
        self._facts[path] = facts
        stored = msgspec.msgpack.encode(facts)
        return artifact.CachedFile(record("parsed"), stored, sorted(defined_names(facts)))

    def _load(self, path: str) -> FileFacts | None:
        if path not in self._facts:
            if path not in self._new or not self._new[path].facts:
                return None
            stored = self._new[path].facts
            self._facts[path] = msgspec.msgpack.decode(stored, type=FileFacts)
        return self._facts[path]

    # --- linking ----------------------------------------------------------------------------

    def _link(self) -> int:
        """Link the files whose edges may have changed; return how many."""
        old, new = _parsed(self._old), _parsed(self._new)
        changed = {p for p in old.keys() | new.keys() if old.get(p) is not new.get(p)}
        configs = _configs(self._new)
        has_new_aliases = configs != _configs(self._old)
        if not changed and not has_new_aliases:
            return 0
        texts = {path: decoded(self._repository.read(path) or b"") for path in configs}
        modules = ModuleIndex(new, PathAliases(texts))
        before = ModuleIndex(old) if old.keys() != new.keys() else modules
        names = _names(self._new, modules)
        # In the form of `CachedFile.lookups`.
        changes = changed | _changed_modules(before, modules)
        changes |= {f".{n.removeprefix('.')}" for n in _names(self._old, before) ^ names}
        stale = [
            path
            for path in new
            if has_new_aliases
            or path in changed
            or before.names.get(path) != modules.names[path]
            or not changes.isdisjoint(self._new[path].lookups)
        ]
        for done, path in enumerate(stale, 1):
            part, lookups = FileLinker(path, modules, self._load, names).link()
            self._new[path] = replace(
                self._new[path],
                part=msgspec.json.encode(part),
                counts=(len(part.nodes), len(part.edges)),
                lookups=sorted(lookups),
            )
            self._on_progress(
                len(self._new) * (len(stale) + done) // len(stale), 2 * len(self._new)
            )
        return len(stale)


def _parsed(files: _Files) -> dict[str, bytes]:
    return {path: file.facts for path, file in files.items() if file.facts}


def _configs(files: _Files) -> dict[str, str]:
    """The hashes of the files that declare path aliases."""
    return {path: file.record.hash for path, file in files.items() if is_config(path)}


def _names(files: _Files, modules: ModuleIndex) -> set[str]:
    """The names of all modules and of their definitions; those of variables begin with a dot."""
    last_names = {name.rpartition(".")[2] for name in modules.names.values()}
    return last_names.union(*(file.names for file in files.values()))


def _changed_modules(before: ModuleIndex, after: ModuleIndex) -> set[str]:
    """The importable names that were added, removed or moved, and their packages."""
    return {
        prefix
        for name, _ in before.known_names() ^ after.known_names()
        for prefix in (name, *packages_of(name))
    }
