"""Decodes documents, and pages to UTF-8; the encoding is taken from several kinds of evidence."""

import codecs
import re

from judge.text.data import package_data

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # It begins like the one of UTF-16.
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_DECLARED_WITHIN_BYTES = 32 * 1024
"""Browsers search the whole head, which in some templates begins with long comments or scripts."""

_SAMPLE_BYTES = 100_000
_KANA = re.compile("[\u3041-\u30ff]")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-©«¬®-³¶¸¹»-¿×÷][^\W\d_]")
_WIDE = re.compile("[\u2e80-\ud7a3\uff61-\uff9f]+")
"""Wrong readings have signs in words, as "obowi±zuje" has, or letters of East Asia alone."""

_COOKIE = re.compile(rb"\A(?:[^\n]{0,200}\n)?[^\n]{0,80}coding[:=][ \t\"']*([-\w.]{1,40})")
"""How editors and Python declare an encoding in the first two lines."""

_DECLARED = re.compile(
    rb"(?i)(?:<meta(?=[\s/])(?:(?=[^>]{0,512}?http-equiv)[^>]{0,512}?"
    rb"|(?:[^>\"']|\"[^\"]{0,512}\"|'[^']{0,512}'){0,512}?)(?<![\w-])charset|\A\s{0,64}<\?xml[^>]{1,128}?encoding)"
    rb"\s{0,8}=\s{0,8}[\"']?\s{0,8}([\w.:-]{1,40})"
)
_NO_DECLARATION = re.compile(
    rb"(?is)<!--.*?(?:-->|\Z)|<(script|style|template|noscript|title)\b.*?(?:</\1|\Z)"
)
"""Where what looks like a declaration does not count."""


_EMPTY_ELEMENT = re.compile(
    rb"(?i)<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)[\s/])"
    rb"([a-z][\w:.-]*+)((?:\s++[\w:.-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+)\s*+/>"
)


def xhtml_as_html(body: bytes) -> bytes:
    """The XHTML *body* with an end tag for each `<title/>`, which HTML would leave open."""
    return _EMPTY_ELEMENT.sub(rb"<\1\2></\1>", body)


def decode_text(content: bytes) -> str:
    """*content* as text; never raises.

    A byte order mark wins, then UTF-8, even with some bytes that are not, then a declaration as
    editors have it, then what the letters are likely to be.
    """
    if encoding := marked_encoding(content):
        return content.decode(encoding, "replace").removeprefix("\ufeff")
    if b"\x1b$" in content:
        return content.decode("iso2022_jp", "replace")
    text = content.decode("utf-8", "surrogateescape")
    invalid = len(_ESCAPED.findall(text))
    letters = len(text) - invalid - sum(map(str.isascii, text)) if invalid else 0
    if not invalid or letters > invalid:
        return _ESCAPED.sub(
            lambda c: c[0].encode(errors="surrogateescape").decode("cp1252", "replace"), text
        )
    declared = _COOKIE.match(content)
    stated = _known_encoding(declared[1].decode("ascii")) if declared else ""
    return content.decode(stated or _likely_encoding(content), "replace")


def marked_encoding(content: bytes) -> str:
    """What the byte order mark of *content* tells, else UTF-16 of Latin letters, else ""."""
    known = next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), "")
    head = content[:1000]
    even, odd = head[::2].count(0), head[1::2].count(0)
    is_wide = not min(even, odd) and 2 * len(head) < 5 * max(even, odd) < 3 * len(head)
    return known or (is_wide and ("utf-16-le" if odd else "utf-16-be")) or ""


_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, as `surrogateescape` decodes them."""


def _is_odd(text: str) -> bool:
    runs = _WIDE.findall(text)
    return bool(_SIGN_IN_WORD.search(text)) or sum(len(run) == 1 for run in runs) * 2 > len(runs)


def _likely_encoding(content: bytes) -> str:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - nearly all text is UTF-8

    likely = package_data("documents")["encodings"]["likely"].split()
    sample = content[:_SAMPLE_BYTES].rpartition(b"\n")[0] or content[:_SAMPLE_BYTES]
    every = from_bytes(sample, cp_isolation=likely)
    fitting = [match for match in every if not _is_odd(str(match))] or [*every]
    found = {match.encoding: match for match in fitting}
    if not found:
        return "cp1252"
    best = fitting[0]
    if "euc_jp" in found and 5 * len(_KANA.findall(str(found["euc_jp"]))) > len(str(best)):
        return "euc_jp"  # Read as Korean it is as likely to the library.
    western = found.get("cp1252")
    is_western = western and western.chaos <= best.chaos and western.coherence >= best.coherence
    return "cp1252" if is_western or "cp1252" in best.could_be_from_charset else best.encoding


def html_as_utf8(body: bytes, charset: str = "") -> bytes:
    """*body* in UTF-8; never raises. Invalid bytes become U+FFFD, here or in the parser.

    A byte order mark wins, then *charset* (from the HTTP header), then UTF-8 if every byte is
    valid, or nearly every one, then the page's own declaration, then what the letters are likely to
    be. Unknown labels are ignored.
    """
    if stated := marked_encoding(body) or _known_encoding(charset):
        # Invalid bytes of UTF-8 are left to the parser.
        known = body if stated == "utf-8" else body.decode(stated, "replace").encode()
        return known.removeprefix(codecs.BOM_UTF8)
    try:
        # Not "final": a page cut at the size limit may end inside a character.
        return body[: codecs.utf_8_decode(body, "strict", False)[1]]
    except UnicodeDecodeError:
        declared = _declared_encoding(body)
        return (body.decode(declared, "replace") if declared else decode_text(body)).encode()


def _declared_encoding(body: bytes) -> str:
    """The encoding that the page declares, not UTF-8, which it is not, or UTF-16; else ""."""
    found = _DECLARED.search(_NO_DECLARATION.sub(b"", body[:_DECLARED_WITHIN_BYTES]))
    label = _known_encoding(found[1].decode("ascii", "replace")) if found else ""
    return "" if label.startswith("utf-") else label


def _known_encoding(label: str) -> str:
    """Python's name of the web encoding called *label*, or an empty string."""
    try:
        name = codecs.lookup(label.strip(" \t\r\n\"'")).name
    except (LookupError, ValueError):
        return ""
    encodings = package_data("documents")["encodings"]
    if name in encodings["western"].split():
        return "cp1252"
    return name if name in encodings["web"].split() else ""
