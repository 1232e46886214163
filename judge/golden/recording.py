"""Makes a case from a live judgement, and updates what cases expect.

record -> scrub keys -> replay: only a case that reproduces the recorded body is written. Personal
details are only listed, since a name may be made up: whoever records a case decides. An update
leaves replies, pages and the expectations that people wrote as they are.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.errors import ConfigurationError, ContentBlocked, InvalidReply
from judge.golden.cases import (
    PAGES,
    Expected,
    StoredCase,
    load_case,
    load_cases,
    serialize_case,
    write_output,
)
from judge.golden.differences import Difference, body_differences, differences, found_values, masked
from judge.golden.replay import (
    Outcome,
    RecordingFetcher,
    RecordingModel,
    RunConfig,
    judge_recorded,
    run_case,
)
from judge.golden.reports import difference_lines
from judge.judging.pipeline import Pipeline
from judge.library.pages.retriever import SnippetRetriever
from judge.settings import EXTRACTIVE
from judge.text.names import find_names
from judge.types.requests import JudgeRequest
from judge.types.text_files import TextFile

Scrub = Callable[[str], str]

MIN_SECRET_LENGTH = 8  # characters; masking shorter settings would mask ordinary words too

_PRIVATE = tomllib.loads(files("judge.golden").joinpath("private.toml").read_text("utf-8"))
_KEYS = "|".join(_PRIVATE["keys"])

_WRITTEN_BY_PEOPLE = {"summary_matches", "second_prompt_names", "evaluators", "graded", "floor"}


class Update(NamedTuple):
    """The update of one case: the fields that changed, and what still is not as expected."""

    name: str
    changed: Sequence[Difference]
    remaining: Sequence[Difference]


def new_case_path(folder: Path, name: str) -> Path:
    """The file of a new case; raises ConfigurationError if *name* cannot be one or is taken."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,79}", name):
        raise ConfigurationError(
            f"{name!r} cannot name a case; use at most 80 of a-z, 0-9, - and _."
        )
    path = folder / f"{name}.json"
    if path.exists():
        raise ConfigurationError(f"There is a case {path} already. Choose another name.")
    return path


async def record(
    path: Path,
    request: JudgeRequest,
    pipeline: Pipeline,
    scrub: Scrub,
    *,
    sources: Sequence[TextFile] = (),
    allows_no_pages: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Write *request*, as the real *pipeline* judges it, as a case; with whether keys were masked.

    It includes *sources* of the pipeline if it is to be replayed over them for good. Raises
    ConfigurationError when it does not replay as recorded, and what the pipeline raises when there
    is no reply to record.
    """
    recorded, fixtures = await _record(path.stem, request, pipeline, sources)
    pages = recorded["pages"]
    if pages and not any(pages.values()) and not allows_no_pages:
        raise ConfigurationError(
            f"Every page was down ({len(pages)}), so the case would judge without any. Try again "
            "later, or with --allow-no-pages if that is what it is for. No case was made."
        )
    if any(scrub(url) != url for url in pages):
        raise ConfigurationError("The address of a page holds a key. Take it out of the sources.")
    document, clean = _scrubbed(recorded, scrub), _scrubbed(fixtures, scrub)
    had_keys = (document, clean) != (recorded, fixtures)
    with TemporaryDirectory(prefix="judge-golden-") as folder:
        draft = Path(folder, path.name)
        _write(draft, document, clean)
        outcome = await run_case(load_case(draft), RunConfig(pipeline.knowledge))
    expected = document["expected"]
    found = list(body_differences(expected["exact_body"], masked(outcome.body), is_exact=True))
    if found:
        lines = ["The case would not replay as it was recorded:", *difference_lines(*found[:5])]
        raise ConfigurationError("\n".join(lines))
    expected["prompt_digest"] = outcome.prompt_digest
    document["prompts"] = list(outcome.prompts)
    _write(path, document, clean)
    return document, had_keys


async def _record(
    name: str, request: JudgeRequest, pipeline: Pipeline, sources: Sequence[TextFile]
) -> tuple[dict[str, Any], dict[str, str]]:
    """A case of *request*, judged without cache and fallback, and its fixtures by file name.

    Fixtures are decoded as Latin-1, which maps every byte to a character and back.
    """
    clock, versions, journal = pipeline.clock, pipeline.knowledge().versions, pipeline.journal
    fetcher = RecordingFetcher(pipeline.references.retriever.fetcher)
    model = RecordingModel(pipeline.model.primary)
    retriever = SnippetRetriever(fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal)
    recording = replace(
        pipeline,
        references=replace(pipeline.references, retriever=retriever),
        model=replace(pipeline.model, primary=model, fallback=None),
    )
    started, reported = clock.now(), (ContentBlocked, InvalidReply)
    outcome = await judge_recorded(recording, model, request, reported=reported)
    fixtures, pages = dict[str, str](), dict[str, object]()
    for number, (url, page) in enumerate(fetcher.pages.items(), 1):
        file = f"{name}.{number}.html"
        pages[url] = page and {"file": file, "charset": page.charset}
        fixtures |= {file: page.body.decode("latin-1")} if page else {}
    is_extractive = model.name == EXTRACTIVE
    # Named by version, so that cases recorded with the same sources share the files.
    own = {
        f"sources.{versions.sources}.{number}.toml": file.text.encode().decode("latin-1")
        for number, file in enumerate(sources, 1)
    }
    document = {
        "about": "",
        "recorded": True,
        "recorded_at": started.isoformat(timespec="seconds"),
        "versions": {"model": model.name, "prompt": versions.prompt, "sources": versions.sources},
        "input": request.model_dump(exclude_defaults=True),
        "pages": pages,
        **({"sources": list(own)} if own else {}),
        "replies": [] if is_extractive else model.replies,
        "model": EXTRACTIVE if is_extractive else "scripted",
        "expected": _expected(outcome),
    }
    return document, fixtures | own


def _expected(outcome: Outcome) -> dict[str, Any]:
    """What is exact about the recorded answer, and an evaluator that any answer should pass."""
    body = outcome.body
    exact = {"prompt_digest": outcome.prompt_digest, "exact_body": masked(body)}
    if outcome.status != 200:
        return {"status": outcome.status, "type": found_values(outcome)["type"], **exact}
    question = "cites_something" if body["references"] else "no_citation"
    question = "declines_references" if body["evidence"] == "not_applicable" else question
    checked = {"status": 200, "domain": body["domain"], "attempts": body["attempts"]}
    return {**checked, "evaluators": {question: True}, **exact}


def _scrubbed(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: _scrubbed(below, scrub) for key, below in value.items()}
    return [_scrubbed(item, scrub) for item in value] if isinstance(value, list) else value


def _write(path: Path, document: Mapping[str, Any], fixtures: Mapping[str, str]) -> None:
    for name, body in fixtures.items():
        write_output(path.parent / PAGES / name, body.encode("latin-1"))
    write_output(path, serialize_case(document).encode())


async def update_cases(folder: Path, names: Sequence[str], config: RunConfig) -> list[Update]:
    """Rewrite the cases *names* of *folder*, all or none.

    Raises ConfigurationError when a case needs a reply or page that it does not have, and what
    `load_cases` raises.
    """
    cases = load_cases(folder, names)
    updated = [(stored.path, *await _updated(stored, config)) for stored in cases]
    for path, document, _ in updated:
        _write(path, document, {})
    return [update for *_, update in updated]


async def _updated(stored: StoredCase, config: RunConfig) -> tuple[dict[str, Any], Update]:
    """The new document of *stored*, and what it changes."""
    outcome = await run_case(stored, config)
    # A case that was written by hand may leave out pages on purpose; a recorded one may not.
    missing = [name for name in outcome.missing if stored.case.recorded or name.startswith("reply")]
    if missing:
        raise ConfigurationError(
            f"{stored.name} needs {', '.join(missing)}, which it does not have. Nothing is "
            "invented: record the case anew with `judge golden new`, or write it by hand. "
            "No case was changed."
        )
    document = json.loads(stored.path.read_text(encoding="utf-8-sig"))
    before = document.get("expected", {})
    document["expected"] = {key: _new_value(key, old, outcome) for key, old in before.items()}
    if "prompts" in document:
        document["prompts"] = list(outcome.prompts)
    changed = list(body_differences(before, document["expected"], is_exact=True))
    expected = Expected.model_validate(document["expected"])
    return document, Update(stored.name, changed, differences(expected, outcome, stored.evaluators))


def _new_value(key: str, old: Any, outcome: Outcome) -> Any:
    if key in _WRITTEN_BY_PEOPLE or (old is None and not key.endswith("Verdict")):
        return old
    body = {"body": _projected(old, outcome.body), "exact_body": masked(outcome.body)}
    return {**found_values(outcome), **body, "status": outcome.status}[key]


def _projected(old: Any, found: Any) -> Any:
    """The part of *found* that *old* names."""
    if isinstance(old, Mapping) and isinstance(found, Mapping):
        return {key: _projected(below, found[key]) for key, below in old.items() if key in found}
    if isinstance(old, list) and isinstance(found, list) and len(old) == len(found):
        return [_projected(before, after) for before, after in zip(old, found, strict=True)]
    return found


def scrubber(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that masks *secrets*, and what looks like a key, by as many x: offsets stay."""
    known = sorted({s for s in secrets if len(s) >= MIN_SECRET_LENGTH}, key=len, reverse=True)
    pattern = re.compile("|".join([*map(re.escape, known), _KEYS]))
    return lambda text: pattern.sub(lambda match: "x" * len(match.group()), text)


class PersonalDetail(NamedTuple):
    """Words that may identify a person."""

    kind: str
    field: str
    words: str


_PERSONA = re.compile(r'"name": ?"([^"]+)"')  # of a reply; nobody is called so


def find_personal_details(document: Mapping[str, Any]) -> list[PersonalDetail]:
    """What may be personal in the dispute and the replies of a case, without repetitions."""
    fields = document["input"].items()
    texts = {f"input.{key}": value for key, value in fields if isinstance(value, str)}
    for number, reply in enumerate(document["replies"]):
        texts[f"replies.{number}"] = reply.get("text", "")
    personas = {name for text in texts.values() for name in _PERSONA.findall(text)}
    details = _PRIVATE["details"].items()
    unique: dict[tuple[str, str], PersonalDetail] = {}
    for field, text in texts.items():
        found = [(kind, m[0]) for kind, one in details for m in re.finditer(one, text)]
        found += [("name", name) for name in find_names(text) if name not in personas]
        for kind, words in found:
            unique.setdefault((kind, words.casefold()), PersonalDetail(kind, field, words))
    return list(unique.values())
