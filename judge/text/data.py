"""The package's data that texts are read with."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def package_data(name: str) -> dict[str, Any]:
    """The tables of the file *name* in `judge/vocabulary`; read once."""
    text = files("judge.vocabulary").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
