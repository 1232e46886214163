"""What imports of TypeScript mean that name no file: `paths` and `baseUrl` of `tsconfig.json`."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import NamedTuple

import msgspec

#: A configuration that others only extend counts for its folder too: so bundlers' templates do it.
_CONFIG = re.compile(r"(?:^|/)[tj]sconfig[^/]*\.json$")
#: What does not end ends with the file, so that each is looked at once.
_STRING = r'("(?:\\[\s\S]?|[^"\\])*"?)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")
#: Configurations that extend one another further than this are none that somebody wrote.
_MOST_EXTENDED = 100
#: What most bundlers take for the source root where no configuration says so.
_SOURCE_ROOT = ("@/", "~/")


class _Options(msgspec.Struct, rename="camel"):
    base_url: str | None = None
    paths: dict[str, list[str]] | None = None


class _Config(msgspec.Struct, rename="camel"):
    extends: str | list[str] = []
    compiler_options: _Options = msgspec.field(default_factory=_Options)


class _Rules(NamedTuple):
    """Patterns with their targets, and the base of other names, all from the repository's root."""

    paths: dict[str, list[str]]
    base: str | None


class PathAliases:
    """The aliases that hold in each folder of a repository."""

    def __init__(self, configs: Mapping[str, str]) -> None:
        """*configs* are the texts of the files that `is_config` names, by path."""
        self._configs = {path: _parsed(text) for path, text in configs.items()}
        self._known: dict[str, _Rules] = {}
        self._rules: dict[str, list[_Rules]] = {}
        for path in sorted(configs, key=lambda path: (len(path), path)):
            rules = self._effective(path)
            if rules.paths or rules.base is not None:
                self._rules.setdefault(dirname(path), []).append(rules)

    def targets(self, name: str, importer: str) -> list[str]:
        """The files, perhaps without suffix, that *name* may mean in *importer*, best first."""
        folder = dirname(importer)
        while folder and folder not in self._rules:
            folder = dirname(folder)
        found = [target for rules in self._rules.get(folder, ()) for target in _meant(rules, name)]
        return [*found, *([name[2:]] if name.startswith(_SOURCE_ROOT) else [])]

    def _effective(self, path: str, depth: int = 0) -> _Rules:
        """The rules of a configuration and of those that it extends."""
        if path in self._known:
            return self._known[path]
        rules = _Rules({}, None)
        config = self._configs.get(path)
        if config is None or depth > _MOST_EXTENDED:
            return rules
        self._known[path] = rules  # They may extend one another in a circle.
        folder, options = dirname(path), config.compiler_options
        for name in [config.extends] if isinstance(config.extends, str) else config.extends:
            other = normpath(join(folder, f"{name.removesuffix('.json')}.json"))
            above = self._effective(other, depth + 1)
            rules = _Rules(
                above.paths or rules.paths, rules.base if above.base is None else above.base
            )
        if options.base_url is not None:
            rules = rules._replace(base=normpath(join(folder, options.base_url)))
        if options.paths is not None:
            start = folder if rules.base is None else rules.base
            rules = rules._replace(
                paths={
                    pattern: [normpath(join(start, target)) for target in targets]
                    for pattern, targets in options.paths.items()
                }
            )
        self._known[path] = rules
        return rules


def is_config(path: str) -> bool:
    """Whether the file at *path* may say what imports mean."""
    return path.endswith(".json") and _CONFIG.search(path) is not None


def _parsed(text: str) -> _Config:
    """A configuration, which may have comments and commas too many; an empty one for nonsense."""
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    try:
        return msgspec.json.decode(text, type=_Config)
    except (msgspec.DecodeError, RecursionError):
        return _Config()


def _meant(rules: _Rules, name: str) -> Iterator[str]:
    """What *name* means by *rules*: the pattern with the longest beginning, then the base."""
    for pattern in sorted(rules.paths, key=lambda pattern: -len(pattern.partition("*")[0])):
        start, star, end = pattern.partition("*")
        if name == pattern or (star and name.startswith(start) and name.endswith(end)):
            inner = name[len(start) : len(name) - len(end)]
            yield from (target.replace("*", inner, 1) for target in rules.paths[pattern])
            break
    if rules.base is not None:
        yield normpath(join(rules.base, name))
