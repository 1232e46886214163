"""Resolves imports to files: paths of parsed files -> importable module names.

A repository may have several source roots (`src/`, `tests/`, examples) and packages without
`__init__.py`, so several files may have the same module name; the one nearest to the importing
file wins.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import NamedTuple

import msgspec

#: Marks the module name of a TypeScript import that is not a relative path.
PACKAGE_PREFIX = "npm:"
_SUFFIX = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_SOURCE_ROOTS = ("src", "lib", "python")


class ModuleIndex:
    """The modules of a repository by name, from the paths of the files that have facts."""

    def __init__(self, paths: Iterable[str], aliases: "PathAliases | None" = None) -> None:
        self.paths = sorted(paths)
        self._path_aliases = aliases or PathAliases({})
        self._packages = {_folder(path) for path in self.paths if _stem(path) == "__init__"}
        self.names = {path: self._name(path) for path in self.paths}
        self._by_name: dict[str, list[str]] = {}
        self._prefixes: set[str] = set()
        for path in self.paths:
            for name in self.importable_names(path):
                self._by_name.setdefault(name, []).append(path)
                self._prefixes.update(packages_of(name))

    def importable_names(self, path: str) -> set[str]:
        """Every name under which *path* may be imported."""
        dotted = _dotted(path)
        names = {self.names[path], dotted, _without_root(dotted)}
        if not is_python(path):
            return names | {f"{dotted}.index"} if _is_package_file(path) else names
        if _folder(path) not in self._packages:
            names.add(_stem(path))
        return names

    def known_names(self) -> set[tuple[str, str]]:
        """Every importable name, paired with each file that has it."""
        return {(name, path) for name, paths in self._by_name.items() for path in paths}

    def find(self, name: str, importer: str) -> str | None:
        """The file that *name* refers to in *importer*; None when no file has that name."""
        paths = self._by_name.get(name)
        if not paths:
            return None
        if len(paths) == 1:
            return paths[0]
        return max(paths, key=lambda path: _nearness(path, importer))

    def candidate_names(self, name: str, importer: str) -> list[str]:
        """The module names that *name* may stand for in *importer*: those of a TypeScript alias."""
        if not name.startswith(PACKAGE_PREFIX):
            return [name]
        targets = self._path_aliases.targets(name.removeprefix(PACKAGE_PREFIX), importer)
        return [_SUFFIX.sub("", target).replace("/", ".") for target in targets]

    def is_namespace(self, name: str) -> bool:
        """Whether *name* is a package without a file."""
        return name in self._prefixes

    def absolute(self, path: str, level: int, module: str) -> str:
        """The absolute name of `..module` (*level* 2) in the file at *path*."""
        if level == 0:
            return module
        package = self.names[path] if is_python(path) else _folder(path).replace("/", ".")
        if is_python(path) and not _is_package_file(path):
            package = package.rpartition(".")[0]
        parts = package.split(".") if package and _folder(path) else []
        parents = parts[: max(0, len(parts) - level + 1)]
        return ".".join([*parents, *([module] if module else [])])

    def qualified_name(self, path: str, name: str) -> str:
        """The full name of *name* in the module at *path*; a package file in the root adds none."""
        is_root = _is_package_file(path) and not _folder(path)
        return name if is_root else f"{self.names[path]}.{name}"

    def last_name(self, path: str) -> str:
        """The last part of the name of the module at *path*."""
        return self.names[path].rpartition(".")[2]

    def _name(self, path: str) -> str:
        folder = _folder(path)
        if folder not in self._packages or not is_python(path):
            return _without_root(_dotted(path)) or _stem(path)
        parts = [] if _stem(path) == "__init__" else [_stem(path)]
        while folder in self._packages and folder:
            folder, _, name = folder.rpartition("/")
            parts.append(name)
        return ".".join(reversed(parts)) or _stem(path)


def packages_of(name: str) -> list[str]:
    """`a` and `a.b` for `a.b.c`: namespace packages that exist only with their modules."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return stem if is_python(path) else stem.removesuffix(".d")  # `types.d.ts`


def _dotted(path: str) -> str:
    folder, stem = _folder(path), _stem(path)
    parts = folder.split("/") if folder else []
    return ".".join(parts if _is_package_file(path) else [*parts, stem])


def is_python(path: str) -> bool:
    """Whether *path* has a suffix of Python."""
    return path.endswith((".py", ".pyi"))


def _is_package_file(path: str) -> bool:
    """Whether a file stands for its folder: `__init__.py`, and `index.ts` in TypeScript."""
    return _stem(path) == ("__init__" if is_python(path) else "index")


def _without_root(name: str) -> str:
    first, _, rest = name.partition(".")
    return rest if first in _SOURCE_ROOTS and rest else name


def _nearness(path: str, importer: str) -> tuple[int, bool, int]:
    shared = 0
    for folder, other in zip(path.split("/")[:-1], importer.split("/")[:-1], strict=False):
        if folder != other:
            break
        shared += 1
    return shared, path.endswith(".py"), -len(path)


#: `tsconfig.base.json` too, which bundlers' templates only extend: it counts for its folder.
_CONFIG_NAME = re.compile(r"(?:^|/)[tj]sconfig[^/]*\.json$")
#: Unclosed strings and comments extend to the end of the file, so matching takes linear time.
_STRING = r'("(?:\\[\s\S]?|[^"\\])*"?)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")
#: No configuration written by hand extends more levels than this.
_MAX_EXTENDS = 100
#: Prefixes that most bundlers map to the source root when no configuration does.
_ROOT_PREFIXES = ("@/", "~/")


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
    """The path aliases of each folder of a repository."""

    def __init__(self, configs: Mapping[str, str]) -> None:
        """*configs* are the texts of the `is_config` files, by path."""
        self._configs = {path: _parsed(text) for path, text in configs.items()}
        self._effective_cache: dict[str, _PathMapping] = {}
        self._mappings: dict[str, list[_PathMapping]] = {}
        for path in sorted(configs, key=lambda path: (len(path), path)):
            mapping = self._effective(path)
            if mapping.paths or mapping.base is not None:
                self._mappings.setdefault(dirname(path), []).append(mapping)

    def targets(self, name: str, importer: str) -> list[str]:
        """The paths, perhaps without suffix, that *name* may refer to in *importer*, best first."""
        folder = dirname(importer)
        while folder and folder not in self._mappings:
            folder = dirname(folder)
        mappings = self._mappings.get(folder, ())
        targets = [target for mapping in mappings for target in _mapped_targets(mapping, name)]
        return [*targets, *([name[2:]] if name.startswith(_ROOT_PREFIXES) else [])]

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


def is_config(path: str) -> bool:
    """Whether the file at *path* may declare path aliases."""
    return path.endswith(".json") and _CONFIG_NAME.search(path) is not None


def _parsed(text: str) -> _Config:
    """A configuration, which may have comments and trailing commas; empty when it is invalid."""
    for pattern in (_COMMENT, _TRAILING_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    try:
        return msgspec.json.decode(text, type=_Config)
    except (msgspec.DecodeError, RecursionError):
        return _Config()


def _mapped_targets(mapping: _PathMapping, name: str) -> Iterator[str]:
    """The targets of *name*: by the pattern with the longest matching prefix, then by the base."""
    for pattern in sorted(mapping.paths, key=lambda pattern: -len(pattern.partition("*")[0])):
        start, star, end = pattern.partition("*")
        if name == pattern or (star and name.startswith(start) and name.endswith(end)):
            inner = name[len(start) : len(name) - len(end)]
            yield from (target.replace("*", inner, 1) for target in mapping.paths[pattern])
            break
    if mapping.base is not None:
        yield normpath(join(mapping.base, name))
