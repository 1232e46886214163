"""Names of TypeScript modules -> paths: aliases of tsconfig.json, packages of the repository."""

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple

import msgspec

#: `tsconfig.base.json` too, which bundlers' templates only extend: it counts for its folder.
_CONFIG_NAME = re.compile(r"(?:^|/)[tj]sconfig[^/]*\.json$")
#: Unclosed strings and comments extend to the end of the file, so matching takes linear time.
_STRING = r'("(?:\\[\s\S]?|[^"\\])*"?)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")
#: No configuration written by hand extends more levels than this.
_MAX_EXTENDS = 100
_PACKAGE = re.compile(r"(?:^|/)package\.json$")
#: Of the conditions of an export, those that lead to source or to types before what is built.
_CONDITIONS = ("types", "source", "development", "import", "module", "default", "require")
#: Of a package.json, what may name the file that stands for the package.
_MAINS = ("types", "typings", "source", "module", "main")
#: Folders of what is built; the source is in `src` or beside them.
_BUILT = re.compile(r"^(?:dist|build|lib|out|esm|cjs|es)(?:/(?:esm|cjs|types))?/")
#: Prefixes that most bundlers map to the source root when no configuration does; SvelteKit's.
_ROOT_PREFIX = re.compile(r"[@~]{1,2}/|\$(?=lib(?:/|$))")


class _Options(msgspec.Struct, rename="camel"):
    base_url: str | None = None
    paths: dict[str, list[str]] | None = None


class _Config(msgspec.Struct, rename="camel"):
    extends: str | list[str] = []
    compiler_options: _Options = msgspec.field(default_factory=_Options)


class _PathMapping(NamedTuple):
    """Patterns with their targets, and the base of other names, as paths from the root."""

    paths: dict[str, list[str]]
    base: str | None


class PathAliases:
    """The path aliases of each folder of a repository, and its packages."""

    def __init__(self, configs: Mapping[str, str]) -> None:
        """*configs* are the texts of the `is_config` files, by path."""
        self._packages: dict[str, dict[str, Any]] = {}
        self._configs: dict[str, _Config] = {}
        for path, text in configs.items():
            if _PACKAGE.search(path):
                self._packages[dirname(path)] = _parsed(text, dict[str, Any])
            else:
                self._configs[path] = _parsed(text, _Config)
        self._effective_cache: dict[str, _PathMapping] = {}
        self._mappings: dict[str, list[_PathMapping]] = {}
        for path in sorted(self._configs, key=lambda path: (len(path), path)):
            mapping = self._effective(path)
            if mapping.paths or mapping.base is not None:
                self._mappings.setdefault(dirname(path), []).append(mapping)

    def targets(self, name: str, importer: str) -> list[str]:
        """The paths, perhaps without suffix, that *name* may refer to in *importer*, best first."""
        mappings = self._mappings.get(_nearest(dirname(importer), self._mappings), ())
        targets: list[str] = []
        for mapping in mappings:
            pattern, inner = _best_match(mapping.paths, name)
            targets += [t.replace("*", inner, 1) for t in mapping.paths.get(pattern, ())]
            targets += [] if mapping.base is None else [normpath(join(mapping.base, name))]
        if prefix := _ROOT_PREFIX.match(name):
            root, inner = _nearest(dirname(importer), self._packages), name[prefix.end() :]
            targets += [normpath(join(root, start, inner)) for start in ("src", "app", "")]
        return [*targets, *self._package_targets(name, importer)]

    def _package_targets(self, name: str, importer: str) -> Iterator[str]:
        """The files of a package of the repository that *name* means: `@acme/ui/x`, or `#x`."""
        if name.startswith("#"):
            folder = _nearest(dirname(importer), self._packages)
            package = self._packages.get(folder, {})
            yield from _exported(folder, package.get("imports"), name)
            return
        for folder, package in self._packages.items():
            full = package.get("name")
            if full and name == full:
                yield from _exported(folder, package.get("exports"), ".")
                for main in (*map(package.get, _MAINS), "index", "src/index"):
                    yield from _sources(folder, main)
            elif full and name.startswith(f"{full}/"):
                inner = name[len(full) + 1 :]
                yield from _exported(folder, package.get("exports"), f"./{inner}")
                yield from (normpath(join(folder, start, inner)) for start in ("", "src"))

    def _effective(self, path: str, depth: int = 0) -> _PathMapping:
        """The path mapping of a configuration, with what it inherits by `extends`."""
        if path in self._effective_cache:
            return self._effective_cache[path]
        mapping = _PathMapping({}, None)
        config = self._configs.get(path)
        if config is None or depth > _MAX_EXTENDS:
            return mapping
        self._effective_cache[path] = mapping  # They may extend one another in a circle.
        folder, options = dirname(path), config.compiler_options
        for name in [config.extends] if isinstance(config.extends, str) else config.extends:
            other = normpath(join(folder, f"{name.removesuffix('.json')}.json"))
            parent = self._effective(other, depth + 1)
            base = mapping.base if parent.base is None else parent.base
            mapping = _PathMapping(parent.paths or mapping.paths, base)
        if options.base_url is not None:
            mapping = mapping._replace(base=normpath(join(folder, options.base_url)))
        if options.paths is not None:
            start = folder if mapping.base is None else mapping.base
            mapping = mapping._replace(
                paths={
                    pattern: [normpath(join(start, target)) for target in targets]
                    for pattern, targets in options.paths.items()
                }
            )
        self._effective_cache[path] = mapping
        return mapping


def _nearest(folder: str, folders: Mapping[str, Any]) -> str:
    """The folder or the nearest one above it that is in *folders*; empty without one."""
    while folder and folder not in folders:
        folder = dirname(folder)
    return folder


def _exported(folder: str, entries: Any, name: str) -> Iterator[str]:
    """The files of *entries*, `exports` or `imports` of a package, for *name*."""
    has_names = isinstance(entries, dict) and any(key[:1] in (".", "#") for key in entries)
    pattern, inner = _best_match(by_name := entries if has_names else {".": entries}, name)
    for target in _conditions(by_name.get(pattern)):
        yield from _sources(folder, target.replace("*", inner))


def _sources(folder: str, target: Any) -> Iterator[str]:
    """The path of *target* in a package, and where its source may be if that is built."""
    if isinstance(target, str):
        target = normpath(target)
        yield normpath(join(folder, target))
        for source in ("src/", ""):
            if _BUILT.search(target):
                yield normpath(join(folder, _BUILT.sub(source, target)))


def _conditions(entry: Any) -> Iterator[str]:
    """The targets of an entry of `exports`: a path, a list of them, or paths by condition."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for part in entry:
            yield from _conditions(part)
    elif isinstance(entry, dict):
        known = [name for name in _CONDITIONS if name in entry]
        for name in dict.fromkeys([*known, *entry]):
            yield from _conditions(entry[name])


def is_config(path: str) -> bool:
    """Whether the file at *path* may declare path aliases or the name of a package."""
    return path.endswith(".json") and bool(_CONFIG_NAME.search(path) or _PACKAGE.search(path))


def _parsed(text: str, kind: Any) -> Any:
    """A configuration, which may have comments and trailing commas; empty when it is invalid."""
    for pattern in (_COMMENT, _TRAILING_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return kind()


def _best_match(patterns: Iterable[str], name: str) -> tuple[str, str]:
    """The pattern with the longest prefix that *name* matches, and what its `*` stands for."""
    for pattern in sorted(patterns, key=lambda pattern: -len(pattern.partition("*")[0])):
        start, star, end = pattern.partition("*")
        is_long = len(name) >= len(start) + len(end)
        if name == pattern or (star and is_long and name.startswith(start) and name.endswith(end)):
            return pattern, name[len(start) : len(name) - len(end)]
    return "", ""
