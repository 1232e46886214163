"""A golden case: a dispute, its pages and replies, and the expected outcome; read from a file."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from judge.adapters.files.whole_file import read_whole, write_whole
from judge.errors import ConfigurationError, NotFound
from judge.golden.built_in_evaluators import Phrase
from judge.golden.evaluators import EVALUATORS, Evaluators, check_questions, load_evaluators
from judge.types.references import Page
from judge.types.replies import Evidence, FinishReason, Usage, VerdictWord
from judge.types.request_fields import BadFields, StrictModel, parse_json
from judge.types.requests import JudgeRequest
from judge.types.text_files import TextFile

REPLAY_TIME = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment at which a case is replayed that does not say when it was recorded."""

MAX_BYTES = 64 * 1024 * 1024  # Of a case or a fixture; a longer case is cut and thus invalid.
PAGES = "pages"


class GoldenReply(StrictModel):
    """One reply of the model: *text*, perhaps cut short, a refusal, or that it is unavailable."""

    text: str = ""
    finish: FinishReason = "stop"
    blocked: str | None = None
    unavailable: str | None = None
    model: str = "scripted"
    usage: Usage = Usage()


class GoldenPage(StrictModel):
    """A page fixture, with the charset that the server declared."""

    file: str
    charset: str = ""


def _reply(value: object) -> object:
    """A reply is given as its text, as the JSON in that text, or as the fields of GoldenReply."""
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Mapping) and not GoldenReply.model_fields.keys() >= value.keys():
        return {"text": json.dumps(value, ensure_ascii=False)}
    return value


def _regex(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


def _document_name(name: str) -> str:
    if not re.match(r"[^/]+/.", name):
        raise ValueError("must be `collection/id`")
    return name


class Rubric(StrictModel):
    """A question about an answer for a model, and how often it must say yes, of how many times."""

    question: Annotated[str, Field(min_length=10, max_length=2000)]
    times: Annotated[int, Field(ge=1, le=50)] = 5
    at_least: Annotated[float, Field(gt=0, le=1)] = 0.8


class Expected(StrictModel):
    """The expected outcome of a case, by key; docs/golden.md explains the keys."""

    status: int = 200
    type: str | None = None
    domain: str | None = None
    attempts: int | None = None
    evidence: Evidence | None = None
    degraded: bool | None = None
    references: int | None = None
    summary_matches: Annotated[str, AfterValidator(_regex)] | None = None
    therapist_verdict: Annotated[VerdictWord | None, Field(alias="therapistVerdict")] = None
    analyst_verdict: Annotated[VerdictWord | None, Field(alias="analystVerdict")] = None
    coach_verdict: Annotated[VerdictWord | None, Field(alias="coachVerdict")] = None
    expect_citation: Annotated[bool | None, Field(alias="expectCitation")] = None
    defects: list[str] | None = None
    second_prompt_names: tuple[Phrase, ...] = ()
    prompt_digest: str | None = None
    body: Mapping[str, Any] | None = None
    exact_body: Mapping[str, Any] | None = None
    evaluators: Mapping[str, Any] = {}  # The parameter of each; `load_case` checks them.
    graded: tuple[Rubric, ...] = ()
    floor: Annotated[float, Field(gt=0, le=1)] = 1.0


class GoldenCase(StrictModel):
    """One file of `tests/golden/`; docs/golden.md explains its keys."""

    about: str = ""
    recorded: bool = False
    live: bool | None = None
    recorded_at: AwareDatetime = REPLAY_TIME
    versions: Mapping[Literal["model", "prompt", "sources"], str] = {}
    input: JudgeRequest
    pages: Mapping[str, str | GoldenPage | None] = {}
    documents: Mapping[Annotated[str, AfterValidator(_document_name)], str] = {}
    sources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    replies: tuple[Annotated[GoldenReply, BeforeValidator(_reply)], ...] = ()
    model: Literal["scripted", "extractive"] = "scripted"
    expected: Expected = Expected()

    @property
    def is_live(self) -> bool:
        """Whether `--live` runs it; by default, unless its replies are faulty on purpose."""
        if self.live is not None:
            return self.live
        most_replies = 3 if self.input.hear_other_side else 1
        is_faultless = self.expected.status == 200 and len(self.replies) <= most_replies
        return is_faultless and self.model == "scripted"


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case with its name and file, its pages (None if down), its sources, and evaluators."""

    name: str
    path: Path
    case: GoldenCase
    pages: Mapping[str, Page | None]
    sources: tuple[TextFile, ...] = ()
    evaluators: Evaluators = field(default_factory=lambda: EVALUATORS, compare=False)


def parse_case(text: str) -> GoldenCase:
    """The case in *text*; raises ConfigurationError that names the wrong key."""
    try:
        json.loads(text, object_pairs_hook=_each_key_once)
        return parse_json(GoldenCase, text)
    except (BadFields, ValueError, RecursionError) as error:
        raise ConfigurationError(f"This is no golden case: {error}") from error


def _each_key_once(pairs: list[tuple[str, Any]]) -> None:
    """Raise ValueError for a second key, which would overrule the first."""
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key!r} stands twice in one object; keep one")


def load_cases(
    folder: Path, names: Sequence[str] = (), *, is_live: bool = False
) -> list[StoredCase]:
    """The cases of *folder* in order of name, or those named; if *is_live*, all marked as live.

    Raises NotFound for an unknown name or no case at all, and ConfigurationError for a bad case.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.json"))}
    if not known:
        raise NotFound(f"There are no golden cases in {folder}. Name their folder with --cases.")
    for name in names:
        if name not in known:
            raise NotFound(
                f"There is no golden case {name!r} in {folder}. `judge golden list` names all."
            )
    cases = [load_case(known[name]) for name in dict.fromkeys(names) or known]
    if is_live and not names:
        cases = [stored for stored in cases if stored.case.is_live]
    if not cases:
        raise NotFound(f"No case in {folder} is for --live.")
    return cases


def load_case(path: Path) -> StoredCase:
    """The case in the file *path*; raises ConfigurationError, naming it, for a bad one."""
    try:
        case = parse_case(read_whole(path, MAX_BYTES).decode("utf-8-sig"))
        evaluators = load_evaluators(path.parent)
        check_questions(case.expected.evaluators, evaluators)
        folder = path.parent / PAGES
        pages = {url: _page(folder, url, value) for url, value in case.pages.items()}
        sources = tuple(
            TextFile(str(folder / name), _fixture(folder, name).decode()) for name in case.sources
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
    paragraph = f"<!doctype html><title>Page</title><main><p>{value}</p></main>"
    return Page(url, (value if "<" in value else paragraph).encode(), "utf-8")


def _fixture(folder: Path, name: str) -> bytes:
    inside = Path(name.removeprefix(f"{PAGES}/"))
    if inside.is_absolute() or ".." in inside.parts:
        raise ConfigurationError(f"The fixture {name!r} is not in {folder}. Put it there.")
    return read_whole(folder / inside, MAX_BYTES)


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
