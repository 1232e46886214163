"""Evaluators: each answers one yes-or-no question about an answer, which its docstring asks.

An evaluator is a function of the body of a 200 reply, as JSON, and perhaps of a parameter, which a
case gives under `evaluators`. It returns whether the answer is yes, or the reasons for a no.
"""

import difflib
import functools
import inspect
import runpy
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from judge.errors import ConfigurationError
from judge.golden import built_in_evaluators
from judge.types.request_fields import bad_fields_of

OWN_FILE = "evaluators.py"  # beside the cases; its public functions with a docstring
ENTRY_POINTS = "judge-evaluators"  # of installed packages that offer evaluators

Evaluator = Callable[..., bool | Iterable[str]]
Evaluators = Mapping[str, Evaluator]
"""By the name that a case uses."""


def evaluate(evaluator: Evaluator, body: Mapping[str, Any], wanted: object) -> str:
    """Why *evaluator* says no; empty when it says yes. One that fails says no, with its error."""
    try:
        given = evaluator(body) if parameter_of(evaluator) is None else evaluator(body, wanted)
        return ("" if given else "no") if isinstance(given, bool) else "; ".join(given)
    except Exception as error:  # noqa: BLE001 - it may be a stranger's code
        return f"it failed: {type(error).__name__}: {error}"


def parameter_of(evaluator: Evaluator) -> Any:
    """The type of the evaluator's parameter; None where it takes none, and a case says `true`."""
    _, *more = inspect.signature(evaluator).parameters.values()
    if not more:
        return None
    return Any if more[0].annotation is inspect.Parameter.empty else more[0].annotation


@functools.cache
def load_evaluators(folder: Path) -> Evaluators:
    """Judge's evaluators, those of installed packages, and those of OWN_FILE in *folder*.

    Raises ConfigurationError, naming the file or entry point, for one that cannot be used.
    """
    try:
        own: dict[str, Evaluator] = {
            place.name: place.load() for place in entry_points(group=ENTRY_POINTS)
        }
        if (folder / OWN_FILE).is_file():
            own |= _functions(runpy.run_path(str(folder / OWN_FILE)))
    except Exception as error:
        raise ConfigurationError(
            f"The evaluators of {folder / OWN_FILE}, or of an installed package, cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if taken := EVALUATORS.keys() & own.keys():
        raise ConfigurationError(f"There is an evaluator {min(taken)!r} already; rename yours.")
    return {**EVALUATORS, **own}


def _functions(names: Mapping[str, Any]) -> Evaluators:
    return {
        name: value
        for name, value in names.items()
        if inspect.isfunction(value)
        and value.__module__ == names["__name__"]
        and not name.startswith("_")
        and value.__doc__
    }


def check_questions(questions: Mapping[str, Any], evaluators: Evaluators) -> None:
    """Raise ConfigurationError unless each evaluator exists and its parameter is valid."""
    for name, wanted in questions.items():
        if name not in evaluators:
            near = difflib.get_close_matches(name, evaluators, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise ConfigurationError(
                f"There is no evaluator {name!r}. {hint}There are {', '.join(evaluators)}."
            )
        parameter: Any = parameter_of(evaluators[name]) or Literal[True, 1]
        try:
            TypeAdapter[Any](parameter).validate_python(wanted, strict=True)
        except ValidationError as error:
            [wrong, *_] = bad_fields_of(error).errors
            place = name if wrong.field == "body" else f"{name}.{wrong.field}"
            raise ConfigurationError(f"expected.evaluators.{place} {wrong.message}") from None


EVALUATORS = _functions(vars(built_in_evaluators))
