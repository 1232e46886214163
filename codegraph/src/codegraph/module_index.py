"""Resolves imports to files: paths of parsed files -> importable module names.

A repository may have several source roots (`src/`, `tests/`, examples) and packages without
`__init__.py`, so several files may have the same module name; the one nearest to the importing
file wins.
"""

import re
import sys
from collections.abc import Iterable

from codegraph.path_aliases import PathAliases

#: Marks the module name of a TypeScript import that is not a relative path.
PACKAGE_PREFIX = "npm:"
_SUFFIX = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_SOURCE_ROOTS = ("src", "lib", "python")
#: `examples/flask.py` is not what the package means by `import flask`.
_APART = re.compile(r"(?:.*?/)??(?:tests?|examples?|samples?|demos?|docs?|fixtures|benchmarks?)/")


class ModuleIndex:
    """The modules of a repository by name, from the paths of the files that have facts."""

    def __init__(self, paths: Iterable[str], aliases: PathAliases | None = None) -> None:
        self.paths = sorted(paths)
        self._path_aliases = aliases or PathAliases({})
        self._packages = {_folder(path) for path in self.paths if _stem(path) == "__init__"}
        self.names = {path: self._name(path) for path in self.paths}
        self._by_name: dict[str, list[str]] = {}
        self._prefixes: set[str] = set()
        #: As `_by_name`, with the folder from which the name counts: code may be run in it.
        self._below_folders: dict[str, list[tuple[str, str]]] = {}
        #: The folders below which there are modules in a package of that name without a file.
        self._package_roots: dict[str, set[str]] = {}
        for path in self.paths:
            names = self.importable_names(path)
            for name in names:
                self._by_name.setdefault(name, []).append(path)
                self._prefixes.update(packages_of(name))
            for root, name in self._names_below_folders(path):
                if name not in names:
                    self._below_folders.setdefault(name, []).append((f"{root}/", path))
                for package in packages_of(name):
                    self._package_roots.setdefault(package, set()).add(root)

    def importable_names(self, path: str) -> set[str]:
        """Every name under which *path* may be imported."""
        dotted = _dotted(path)
        names = {self.names[path], dotted}
        if (short := without_root(dotted)).partition(".")[0] not in sys.stdlib_module_names:
            names.add(short)
        is_index = _is_package_file(path) and not is_python(path)
        return names | {f"{dotted}.index"} if is_index else names

    def _names_below_folders(self, path: str) -> Iterable[tuple[str, str]]:
        """The dotted names of a Python file as seen from each folder above it, with that folder.

        Not as seen from a folder that is a package, and no name of the standard library.
        """
        if not is_python(path):
            return
        parts = _dotted(path).split(".")
        folders = _folder(path).split("/")
        for depth in range(1, len(parts)):
            root = "/".join(folders[:depth])
            if root not in self._packages and parts[depth] not in sys.stdlib_module_names:
                yield root, ".".join(parts[depth:])

    def known_names(self) -> set[tuple[str, str]]:
        """Every importable name, paired with each file that has it."""
        below = ((n, path) for n, pairs in self._below_folders.items() for _, path in pairs)
        return {(n, path) for n, paths in self._by_name.items() for path in paths}.union(below)

    def find(self, name: str, importer: str) -> str | None:
        """The file that *name* refers to in *importer*; None when no file has that name."""
        below = self._below_folders.get(name, ())
        nearby = [path for root, path in below if importer.startswith(root) and path != importer]
        paths = [*self._by_name.get(name, ()), *nearby]
        paths = paths or [path for _, path in below if path != importer]
        paths = [path for path in paths if importer.startswith(_apart(path, name))]
        return max(paths, key=lambda path: _nearness(path, importer), default=None)

    def candidate_names(self, name: str, importer: str) -> list[str]:
        """The module names that *name* may stand for in *importer*: those of a TypeScript alias."""
        if not name.startswith(PACKAGE_PREFIX):
            return [name]
        targets = self._path_aliases.targets(name.removeprefix(PACKAGE_PREFIX), importer)
        return [_SUFFIX.sub("", target).replace("/", ".") for target in targets]

    def is_namespace(self, name: str, importer: str) -> bool:
        """Whether *name* is a package without a file in *importer*."""
        roots = self._package_roots.get(name, ())
        return name in self._prefixes or any(importer.startswith(f"{root}/") for root in roots)

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

    def _name(self, path: str) -> str:
        folder = _folder(path)
        if folder not in self._packages or not is_python(path):
            return without_root(_dotted(path)) or _stem(path)
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


def without_root(name: str) -> str:
    """*name* without the folder of sources that it may begin with: `src.a` is imported as `a`."""
    first, _, rest = name.partition(".")
    return rest if first in _SOURCE_ROOTS and rest else name


def _apart(path: str, name: str) -> str:
    """The folder of tests or the like, outside of which nothing imports *path* by that *name*."""
    folders = _folder(path).split("/")
    root = "/".join(folders[: len(_dotted(path).split(".")) - len(name.split("."))])
    match = _APART.match(f"{root}/")
    return match[0] if match else ""


def _nearness(path: str, importer: str) -> tuple[int, bool, int]:
    shared = 0
    for folder, other in zip(path.split("/")[:-1], importer.split("/")[:-1], strict=False):
        if folder != other:
            break
        shared += 1
    return shared, path.endswith(".py"), -len(path)
