"""Extracts the text of PDFs in a child process, since a PDF can keep its reader busy for ever.

`python -m judge.adapters.files.pdf_text` is that process: on stdin the length of a PDF on a line,
then the PDF; on stdout a line of JSON for each.
"""

import json
import logging
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from io import BytesIO
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from judge.errors import UnreadableDocument
from judge.ports import PdfReader
from judge.types.search import PdfText

TIMEOUT_S = 60.0
"""For a document; some 50 pages a second are usual."""

RESERVE_S = 10.0
"""The process stops reading so much earlier, to report how many pages it read."""

MAX_MEMORY_BYTES = 2 * 1024**3
BROKEN = "The PDF is broken"
_PDF_TEXT = TypeAdapter(PdfText)


@contextmanager
def pdf_reader(
    *, timeout_s: float = TIMEOUT_S, python: str = sys.executable
) -> Iterator[PdfReader]:
    """A function that reads PDFs, one at a time, in one process, which starts with the first.

    Leaving the block, from any thread, ends a reading at once, and any further one.
    """
    reading_s = max(1.0, timeout_s - RESERVE_S)
    command = [python, "-m", "judge.adapters.files.pdf_text", str(reading_s)]
    child: subprocess.Popen[bytes] | None = None
    is_open = True

    def read(content: bytes) -> PdfText:
        nonlocal child
        if not is_open:
            raise UnreadableDocument("Reading was stopped.")
        if child and child.poll() is not None:
            _end(child)
            child = None
        if child is None:
            # Our own module; the document is its stdin.
            child = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return _ask(child, content, timeout_s)

    try:
        yield read
    finally:
        is_open = False
        if child:
            _end(child)


def pdf_text(content: bytes, *, timeout_s: float = TIMEOUT_S) -> PdfText:
    """The text of one PDF, read in a process of its own; raises UnreadableDocument."""
    with pdf_reader(timeout_s=timeout_s) as read:
        return read(content)


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()
    for stream in filter(None, (child.stdin, child.stdout)):
        with suppress(OSError):  # What a dead reader did not take.
            stream.close()


def _ask(child: "subprocess.Popen[bytes]", content: bytes, timeout_s: float) -> PdfText:
    """The text of the PDF in *content* as *child* reads it; raises UnreadableDocument."""
    assert child.stdin
    assert child.stdout
    timer = threading.Timer(timeout_s, child.kill)
    timer.start()
    try:
        child.stdin.write(b"%d\n%b" % (len(content), content))
        child.stdin.flush()
        reply: dict[str, Any] = json.loads(child.stdout.readline())
    except (ValueError, OSError):
        child.kill()
        if timer.finished.is_set():
            told = f"The PDF took longer than {timeout_s:g} s to read."
            raise UnreadableDocument(told) from None
        raise UnreadableDocument(f"{BROKEN}: its reader gave up.") from None
    finally:
        timer.cancel()
    if reason := reply.get("problem"):
        raise UnreadableDocument(reason)
    return _PDF_TEXT.validate_python(reply)


def read_pdf(
    content: bytes, *, timeout_s: float, max_pages: int = 2000, max_text: int = 20_000_000
) -> dict[str, Any]:
    """The JSON of a PdfText, or `problem`; *max_text* is ten times the longest novel."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        text = _read(content, time.monotonic() + timeout_s, max_pages, max_text)
        return _PDF_TEXT.dump_python(text, mode="json")  # type: ignore[no-any-return]
    except UnreadableDocument as error:
        return {"problem": str(error)}
    except Exception as error:  # noqa: BLE001 - of whatever type, where a PDF is broken
        return {"problem": f"{BROKEN} ({type(error).__name__})."}


def _read(content: bytes, deadline: float, max_pages: int, max_text: int) -> PdfText:
    from pypdf import PdfReader  # noqa: PLC0415 - takes as long as reading a short file

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocument("The PDF is encrypted. Save it without a password.")
    if len(reader.pages) > max_pages:
        raise UnreadableDocument(f"The PDF has over {max_pages} pages. Split it.")
    pages: list[str] = []
    damaged: list[int] = []
    for number in range(len(reader.pages)):
        try:
            pages.append(joined_words(_storable(reader.pages[number].extract_text())))
        except Exception:  # noqa: BLE001 - see `read_pdf`
            damaged.append(number + 1)
            pages.append("")
        if sum(map(len, pages)) > max_text:
            raise UnreadableDocument(f"The PDF has over {max_text} characters. Split it.")
        if time.monotonic() > deadline:
            raise UnreadableDocument(f"Only {len(pages)} of its pages could be read in time.")
    if values := _form_values(reader):
        pages.append(values)
    if not any(map(str.isalnum, "".join(pages))):
        no_text = "The PDF holds no text, only pictures of it. Recognise the text first."
        raise UnreadableDocument(f"{BROKEN}: no page could be read." if damaged else no_text)
    if is_glyph_codes(" ".join(pages)):
        raise UnreadableDocument("The PDF holds codes of its own for letters. Recognise its text.")
    title: object = reader.metadata.title if reader.metadata else None
    named = _storable(title).strip() if isinstance(title, str) else ""  # Some have `null`.
    return PdfText(tuple(pages), named or None, tuple(damaged), _updated(reader.metadata))


def _updated(metadata: Any) -> date | None:
    """When the document was last changed, else made; None where neither is said rightly."""
    for name in ("modification_date", "creation_date"):
        with suppress(ValueError, AttributeError, TypeError):
            return getattr(metadata, name).date()  # type: ignore[no-any-return]
    return None


def _form_values(reader: Any) -> str:
    """The values that were filled into the fields of a form, each as a line."""
    try:
        values = {str(n): field.get("/V") for n, field in (reader.get_fields() or {}).items()}
    except Exception:  # noqa: BLE001 - see `read_pdf`
        return ""
    return "\n".join(
        _storable(f"{name}: {value.removeprefix('/')}")
        for name, value in values.items()
        if isinstance(value, str) and value.strip() and value != "/Off"
    )


_CUT_WORD = re.compile(r"([^\W\d_]+)([-\u2010\u00ad])[ \t]*\n[ \t]*([^\W\d_]+)")
"""A word with a hyphen at the end of a line."""

_GLYPH_CODES = re.compile(
    r"(?:/?\(?(?:[gc]\d{1,5}+|(?:gid|cid|glyph|uni|index)[-:]?[\dA-F]{1,6}+)\)?)++", re.IGNORECASE
)


def joined_words(text: str) -> str:
    """*text* with words joined that line ends cut; well-known and North-East keep their hyphens."""

    def joined(cut: re.Match[str]) -> str:
        first, hyphen, last = cut.groups()
        if last[0].isupper():
            return cut[0]
        is_compound = hyphen == "-" and f"{first}-{last}" in text
        return f"{first}-{last}" if is_compound else first + last

    return _CUT_WORD.sub(joined, text)


def is_glyph_codes(text: str) -> bool:
    """Whether most words are names of glyphs, as where a font does not tell its letters."""
    words = text.split()
    return sum(bool(_GLYPH_CODES.fullmatch(word)) for word in words) > len(words) / 2


def _storable(text: str) -> str:
    """*text* without lone surrogates, which a broken font can cause."""
    return text.encode("utf-8", "replace").decode("utf-8")


def main(source: BinaryIO, target: BinaryIO, timeout_s: float) -> None:
    """Read PDFs from *source* until it ends, and write the JSON of each to *target*."""
    while length := source.readline():
        content = source.read(int(length))
        target.write(json.dumps(read_pdf(content, timeout_s=timeout_s)).encode() + b"\n")
        target.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    main(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
