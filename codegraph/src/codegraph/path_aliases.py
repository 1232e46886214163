"""Path aliases of TypeScript imports: `paths` and `baseUrl` of `tsconfig.json`."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import NamedTuple

import msgspec

#: `tsconfig.base.json` too, which bundlers' templates only extend: it counts for its folder.
_CONFIG = re.compile(r"(?:^|/)[tj]sconfig[^/]*\.json$")
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
    return path.endswith(".json") and _CONFIG.search(path) is not None


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
