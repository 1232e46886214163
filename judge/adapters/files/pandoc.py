"""Converts documents to HTML by pandoc, where it is installed."""

import shutil
import subprocess

from judge.errors import UnreadableDocument
from judge.ports import not_converted

TIMEOUT_S = 60.0

FORMATS = {"tex": "latex", "adoc": "asciidoc"}
"""Endings that are not pandoc's name of the format."""


def pandoc_html(content: bytes, kind: str) -> bytes:
    """The document as HTML; raises UnreadableDocument."""
    pandoc = shutil.which("pandoc")
    if pandoc is None:
        return not_converted(content, kind)
    # In its sandbox it opens no other file and no address.
    command = [pandoc, "--sandbox", "--standalone", "--from", FORMATS.get(kind, kind), "--to=html"]
    try:
        done = subprocess.run(  # noqa: S603
            command, input=content, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableDocument(f"pandoc did not convert it ({type(error).__name__}).") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason"]
        raise UnreadableDocument(f"pandoc did not convert it: {reason[0][:200]}")
    return done.stdout
