"""The work of `judge doctor`: check each part of the set-up in turn, and say what to fix."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from judge.adapters.models.gemini import check_model
from judge.adapters.models.openai import served_models
from judge.bootstrap.corpus import open_search
from judge.bootstrap.library import ping_redis
from judge.bootstrap.services import open_services
from judge.bootstrap.sources import open_sources
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_table, say, show
from judge.entrypoints.cli.sources.check import check_examples
from judge.errors import ConfigurationError, IndexUnavailable, JudgeError
from judge.library.sources.toml_lines import Places
from judge.ports import Journal
from judge.settings import EXTRACTIVE, OPENAI, Settings, load_settings, misspelt_variables
from judge.text.english import counted

OLLAMA = "http://127.0.0.1:11434/v1"
"""Ollama's default address."""

TIMEOUT_S = 10.0
"""For a model's service to answer; loading Google's SDK takes a second of it."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One part of the set-up; `fix` is empty if it is all right."""

    name: str
    message: str
    fix: str = ""
    advice: str = ""
    """What could be improved although all is right."""


async def show_checks(journal: Journal, *, form: str) -> int:
    """Check everything and print the results; the exit code."""
    checks = await _run_checks(journal)
    is_ok = not any(check.fix for check in checks)
    rows = [(check.name, "FIX" if check.fix else "ok", check.message) for check in checks]
    todo = [f"{c.name}: {c.fix or c.advice}" for c in checks if c.fix or c.advice]
    table = format_table(("What", "State", "Found"), rows)
    listed = [asdict(check) | {"ok": not check.fix} for check in checks]
    show(form, {"checks": listed}, ["\n".join([table, *todo])])
    if is_ok and form == "text":
        say("Everything that a judgement needs is there.")
    return 0 if is_ok else FOUND_SOMETHING


async def _run_checks(journal: Journal) -> list[CheckResult]:
    """The results of all checks, in the order in which to fix problems."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        return [CheckResult("settings", str(error), "Correct or unset the variables named.")]
    checks = [
        await _check_model("model", settings.model, settings),
        *([await _check_model("fallback", name, settings)] if (name := settings.fallback) else ()),
        *await check_ollama(settings),
        _check_sources(settings, journal),
        await _check_redis(settings),
        _check_data_folder(Path(settings.data_dir)),
        *await _check_index(settings, journal),
        *(
            CheckResult("names", f"{name} is no setting", advice=f"Did you mean {known}?")
            for name, known in misspelt_variables().items()
        ),
    ]
    if any(check.fix for check in checks):
        return checks
    try:
        async with open_services(settings, journal):
            return checks
    except JudgeError as error:  # about a setting that no check above looks at
        return [*checks, CheckResult("start", str(error), "Correct or unset what is named.")]


async def _check_model(role: str, model: str, settings: Settings) -> CheckResult:
    """Whether *model* is set up, and there; nothing is generated."""
    variable = f"JUDGE_{role.upper()}"
    if model == EXTRACTIVE:
        return CheckResult(role, "extractive: it quotes the references and gives no verdict")
    if model.startswith(OPENAI):
        return await _check_served_model(role, model, variable, settings)
    if settings.gemini_api_key is None:
        fix = (
            f"Set GEMINI_API_KEY (or GOOGLE_API_KEY), {variable}=openai:NAME for a model of your "
            f"own, or {variable}=extractive to do without."
        )
        return CheckResult(role, f"{model} needs a key, and none is set", fix)
    key = settings.gemini_api_key.get_secret_value()
    failure = await check_model(key, settings.gemini_base_url, model, timeout_s=TIMEOUT_S)
    if failure is None:
        return CheckResult(role, f"{model}: the key is good, and the model is there")
    fix = failure.hint or "Check the connection to Google, the proxy variables and the firewall."
    return CheckResult(role, f"{model} cannot be asked ({failure.reason})", fix)


async def _check_served_model(
    role: str, model: str, variable: str, settings: Settings
) -> CheckResult:
    """Whether the server at JUDGE_OPENAI_BASE_URL has the model."""
    if settings.openai_base_url is None:
        fix = f"Set JUDGE_OPENAI_BASE_URL, as in {OLLAMA} for Ollama on this machine."
        return CheckResult(role, f"{model} needs an address, and none is set", fix)
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    try:
        names = await served_models(settings.openai_base_url, key, timeout_s=TIMEOUT_S)
    except JudgeError as error:
        fix = "Start the server (Ollama: `ollama serve`), or correct JUDGE_OPENAI_BASE_URL and "
        return CheckResult(role, f"{model}: {error}", fix + "JUDGE_OPENAI_API_KEY.")
    name = model.removeprefix(OPENAI)
    if {name, f"{name}:latest"} & set(names):
        return CheckResult(role, f"{model}, which the server has; it was not asked")
    fix = f"Set {variable} to one that it has, or get it (Ollama: `ollama pull {name}`)."
    return CheckResult(role, f"{model}: the server has no such model, but {_listed(names)}", fix)


async def check_ollama(settings: Settings, address: str = OLLAMA) -> list[CheckResult]:
    """How to use an Ollama that runs on this machine unused; empty when there is none."""
    if settings.model.startswith(OPENAI):
        return []
    try:
        names = await served_models(address, "", timeout_s=TIMEOUT_S)
    except JudgeError:
        return []
    names = tuple(name for name in names if "embed" not in name)
    advice = "`ollama pull llama3.2` gets a model that judges without any account."
    if names:
        how = f"JUDGE_MODEL={OPENAI}{names[0]} JUDGE_OPENAI_BASE_URL={address} judge demo"
        advice = f"A verdict without any account: {how}"
    return [CheckResult("ollama", f"it runs here, with {_listed(names)}", advice=advice)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) or "none at all"


def _check_sources(settings: Settings, journal: Journal) -> CheckResult:
    try:
        known = open_sources(settings, journal).current()
    except ConfigurationError as error:
        return CheckResult("sources", str(error), "Correct the file, or set JUDGE_SOURCES.")
    examples = check_examples(known, Places(()))
    if misplaced := sum(not example.is_ok for example in examples):
        found = f"{misplaced} of {len(examples)} examples get another domain than their own"
        fix = "`judge sources check` names them; adjust the terms in the sources file."
        return CheckResult("sources", found, fix)
    domains = known.catalog.domains
    pages = counted(sum(len(domain.sources) for domain in domains), "page")
    return CheckResult("sources", f"{counted(len(domains), 'domain')} with {pages}")


async def _check_redis(settings: Settings) -> CheckResult:
    if settings.redis_url is None:
        return CheckResult("redis", "not configured; the cache in the process serves one worker")
    try:
        await ping_redis(settings)
    except JudgeError as error:
        fix = "Start Redis, let it be written, correct REDIS_URL, or unset it."
        return CheckResult("redis", str(error), fix)
    return CheckResult("redis", "it answers, and can be written")


def _check_data_folder(folder: Path) -> CheckResult:
    """Try to write to the data folder, or to its nearest parent while it does not exist."""
    try:
        nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with tempfile.TemporaryFile(dir=nearest, buffering=0) as file:
            file.write(b"\0" * 4096)  # a full disk still has room for the names of files
            return CheckResult("data", f"{folder} can be written")
    except OSError as error:
        fix = "Make room there, or set JUDGE_DATA_DIR to a folder of your own."
        return CheckResult("data", f"{folder} cannot be written ({error.strerror})", fix)


async def _check_index(settings: Settings, journal: Journal) -> list[CheckResult]:
    """The indexed documents, and the vectors beside them where there are any."""
    try:
        async with open_search(settings, journal) as corpus:
            collections = await corpus.search.catalogue.collections()
            vectors = corpus.indexer.vectors
            name = vectors.name if vectors else ""
            missing = await vectors.missing() if vectors else 0
    except ConfigurationError as error:
        return [CheckResult("vectors", str(error), "Mend that, or set JUDGE_EMBEDDER=none.")]
    except IndexUnavailable as error:
        fix = "Remove the index in JUDGE_DATA_DIR and run `judge index add` on your documents."
        if settings.qdrant_url is not None or settings.database_url is not None:
            fix = "Start its server, or correct or unset QDRANT_URL or JUDGE_DATABASE_URL."
        return [CheckResult("index", str(error), fix)]
    passages = counted(sum(stats.passages for stats in collections), "passage")
    found = [CheckResult("index", f"it holds {passages}" if collections else "nothing is indexed")]
    if name:
        fix = "Run `judge index add` on your documents; it makes them." if missing else ""
        found.append(CheckResult("vectors", f"{missing} missing of {name}", fix))
    return found
