"""Golden cases on disk: find them, read them with their page fixtures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.errors import ConfigurationError, NotFound
from judge.golden.cases import GoldenCase, parse_case

PAGES = "pages"
"""The folder beside the cases that holds page fixtures."""


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case with its name, its file, and the HTML of its pages (None for one that is down)."""

    name: str
    path: Path
    case: GoldenCase
    pages: dict[str, str | None]


def load_cases(folder: Path, names: Sequence[str] = ()) -> list[StoredCase]:
    """The cases of *folder* in order of name, or those named.

    Raises NotFound for an unknown name and ConfigurationError, naming the file, for a bad case.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.json"))}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFound(f"There is no golden case {unknown[0]!r} in {folder}.")
    return [_load(known[name]) for name in (names or known)]


def _load(path: Path) -> StoredCase:
    try:
        case = parse_case(path.read_text(encoding="utf-8"))
        pages = {url: _page(path.parent, value) for url, value in case.pages.items()}
    except (ConfigurationError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return StoredCase(path.stem, path, case, pages)


def _page(folder: Path, value: str | None) -> str | None:
    """The HTML of a page: a fixture's name, the HTML itself, or plain text as one paragraph."""
    if value is None or "<" in value:
        return value
    if value.endswith(".html") and not any(character.isspace() for character in value):
        return (folder / PAGES / Path(value).name).read_text(encoding="utf-8")
    return f"<!doctype html><title>Page</title><main><p>{value}</p></main>"
