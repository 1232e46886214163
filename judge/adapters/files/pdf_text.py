"""Extracts the text of a PDF in a child process, since a PDF can keep its reader busy for ever.

`python -m judge.adapters.files.pdf_text` is that process: PDF on stdin, JSON on stdout.
"""

import json
import logging
import subprocess
import sys
import time
from contextlib import suppress
from datetime import date
from io import BytesIO
from typing import Any, BinaryIO

from judge.errors import UnreadableDocument
from judge.types.search import PdfText

MAX_PAGES = 2000
TIMEOUT_S = 60.0
"""For a document; some 50 pages a second are usual."""

RESERVE_S = 10.0
"""The process stops reading so much earlier, to report how many pages it read."""

MAX_MEMORY_BYTES = 2 * 1024**3
MAX_TEXT = 20_000_000
"""Characters; ten times the longest novel."""


def pdf_text(
    content: bytes, *, timeout_s: float = TIMEOUT_S, python: str = sys.executable
) -> PdfText:
    """The text of the PDF in *content*; raises UnreadableDocument."""
    reading_s = max(1.0, timeout_s - RESERVE_S)
    command = [python, "-m", "judge.adapters.files.pdf_text", str(reading_s)]
    try:
        # Our own module; the document is its stdin.
        process = subprocess.run(  # noqa: S603
            command, input=content, capture_output=True, timeout=timeout_s, check=False
        )
        reply: dict[str, Any] = json.loads(process.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadableDocument(f"The PDF took longer than {timeout_s:g} s to read.") from None
    except ValueError:
        raise UnreadableDocument("The PDF is broken: its reader gave up.") from None
    if reason := reply.get("problem"):
        raise UnreadableDocument(reason)
    updated = reply["updated"]
    return PdfText(
        tuple(reply["pages"]), reply["title"], date.fromisoformat(updated) if updated else None
    )


def read_pdf(
    content: bytes, *, timeout_s: float, max_pages: int = MAX_PAGES, max_text: int = MAX_TEXT
) -> dict[str, Any]:
    """The JSON that the process writes: `pages`, `title`, `updated`; or `problem`."""
    # Importing pypdf takes as long as reading a short file.
    from pypdf.errors import PdfReadError  # noqa: PLC0415

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        text = _read(content, time.monotonic() + timeout_s, max_pages, max_text)
    except UnreadableDocument as error:
        return {"problem": str(error)}
    except (PdfReadError, ValueError, KeyError, TypeError, RecursionError, MemoryError) as error:
        return {"problem": f"The PDF is broken ({type(error).__name__})."}
    return {"pages": text.pages, "title": text.title, "updated": str(text.updated or "")}


def _read(content: bytes, deadline: float, max_pages: int, max_text: int) -> PdfText:
    from pypdf import PdfReader  # noqa: PLC0415

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocument("The PDF is encrypted. Save it without a password.")
    if len(reader.pages) > max_pages:
        raise UnreadableDocument(f"The PDF has over {max_pages} pages. Split it.")
    pages: list[str] = []
    for page in reader.pages:
        pages.append(_storable(page.extract_text()))
        if sum(map(len, pages)) > max_text:
            raise UnreadableDocument(f"The PDF has over {max_text} characters. Split it.")
        if time.monotonic() > deadline:
            raise UnreadableDocument(f"Only {len(pages)} of its pages could be read in time.")
    if not any(page.strip() for page in pages):
        raise UnreadableDocument(
            "The PDF holds no text, only pictures of it. Recognise the text first."
        )
    title: object = reader.metadata.title if reader.metadata else None
    named = _storable(title).strip() if isinstance(title, str) else ""  # Some have `null`.
    return PdfText(tuple(pages), named or None, _updated(reader.metadata))


def _updated(metadata: Any) -> date | None:
    """When the document was last changed, else made; None where neither is said rightly."""
    for name in ("modification_date", "creation_date"):
        with suppress(ValueError, AttributeError, TypeError):
            return getattr(metadata, name).date()  # type: ignore[no-any-return]
    return None


def _storable(text: str) -> str:
    """*text* without lone surrogates, which a broken font can cause."""
    return text.encode("utf-8", "replace").decode("utf-8")


def main(source: BinaryIO, target: BinaryIO, timeout_s: float) -> None:
    """Read a PDF from *source* and write its JSON to *target*."""
    target.write(json.dumps(read_pdf(source.read(), timeout_s=timeout_s)).encode())


def _limit_memory() -> None:
    import resource  # noqa: PLC0415 - in that process only

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


if __name__ == "__main__":
    _limit_memory()
    main(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
