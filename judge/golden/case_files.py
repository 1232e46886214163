"""Reads golden cases with their page fixtures from a folder, and writes them atomically."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.adapters.files.whole_file import read_whole, write_whole
from judge.errors import ConfigurationError, NotFound
from judge.golden.cases import GoldenCase, GoldenPage, parse_case
from judge.golden.evaluators import EVALUATORS, Evaluators, check_questions, load_evaluators
from judge.types.references import Page
from judge.types.text_files import TextFile

MAX_BYTES = 64 * 1024 * 1024
"""Of a case or a fixture; a longer case is cut, which makes it invalid JSON."""

PAGES = "pages"
"""The folder beside the cases that holds page fixtures."""


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case with its name and file, its pages (None if down), its sources, and evaluators."""

    name: str
    path: Path
    case: GoldenCase
    pages: dict[str, Page | None]
    sources: tuple[TextFile, ...] = ()
    evaluators: Evaluators = field(default_factory=lambda: EVALUATORS, compare=False)


def load_cases(folder: Path, names: Sequence[str] = ()) -> list[StoredCase]:
    """The cases of *folder* in order of name, or those named.

    Raises NotFound for an unknown name or no case at all, and ConfigurationError, naming the
    files, for bad cases.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.json"))}
    if not known:
        raise NotFound(f"There are no golden cases in {folder}. Name their folder with --cases.")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFound(
            f"There is no golden case {unknown[0]!r} in {folder}. `judge golden list` names all."
        )
    cases, errors = [], []
    for name in dict.fromkeys(names) or known:
        try:
            cases.append(load_case(known[name]))
        except ConfigurationError as error:
            errors.append(str(error))
    if errors:
        raise ConfigurationError("\n".join(errors))
    return cases


def load_case(path: Path) -> StoredCase:
    """The case in the file *path*; raises ConfigurationError, naming it, for a bad one."""
    try:
        case = parse_case(read_whole(path, MAX_BYTES).decode("utf-8-sig"))
        evaluators = load_evaluators(path.parent)
        check_questions(case.expected.evaluators, evaluators)
        pages = {url: _page(path.parent, url, value) for url, value in case.pages.items()}
        sources = tuple(
            TextFile(str(path.parent / PAGES / name), _fixture(path.parent, name).decode())
            for name in case.sources
        )
    except (ConfigurationError, ValueError, OSError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return StoredCase(path.stem, path, case, pages, sources, evaluators)


def _page(folder: Path, url: str, value: str | GoldenPage | None) -> Page | None:
    """The page that *value* gives: a fixture, HTML, plain text as one paragraph, or None."""
    if value is None:
        return None
    if isinstance(value, GoldenPage):
        return Page(url, _fixture(folder, value.file), value.charset)
    if value.endswith(".html") and not any(c.isspace() or c == "<" for c in value):
        return Page(url, _fixture(folder, value), "utf-8")
    html = value if "<" in value else paragraph_page(value)
    return Page(url, html.encode(), "utf-8")


def paragraph_page(text: str) -> str:
    """The HTML of a page of which *text* is the only paragraph."""
    return f"<!doctype html><title>Page</title><main><p>{text}</p></main>"


def _fixture(folder: Path, name: str) -> bytes:
    inside = Path(name.removeprefix(f"{PAGES}/"))
    path = folder / PAGES / inside
    if inside.is_absolute() or ".." in inside.parts:
        raise ConfigurationError(f"The fixture {name!r} is not in {folder / PAGES}. Put it there.")
    try:
        return read_whole(path, MAX_BYTES)
    except OSError as error:
        why = error.strerror or "it cannot be opened"
        raise ConfigurationError(
            f"The fixture {path} cannot be read ({why}). Put it there, or name another one."
        ) from error


def serialize_case(document: Mapping[str, Any]) -> str:
    """*document* as JSON: indented by two spaces, without escapes for letters beyond ASCII."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_output(path: Path, content: bytes) -> None:
    """Write *content* to *path*, which the user named; raises ConfigurationError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(content)  # `/dev/stdout` is written to and not replaced.
        else:
            write_whole(path, content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}") from error
