"""Reads the vocabulary files of the package: one per subject, and the safety rules."""

import functools
from collections.abc import Mapping
from importlib.resources import files

from judge.types.text_files import TextFile


@functools.cache
def subject_files() -> Mapping[str, TextFile]:
    """The vocabulary file of each subject, by the name of its domain."""
    entries = sorted(
        (entry.name.removesuffix(".toml"), entry)
        for entry in files("judge.vocabulary").joinpath("domains").iterdir()
        if entry.name.endswith(".toml")
    )
    return {
        subject: TextFile(f"judge/vocabulary/domains/{entry.name}", entry.read_text("utf-8"))
        for subject, entry in entries
    }


@functools.cache
def safety_file() -> TextFile:
    """The file of rules for disputes that suggest danger."""
    text = files("judge.vocabulary").joinpath("safety.toml").read_text("utf-8")
    return TextFile("judge/vocabulary/safety.toml", text)
