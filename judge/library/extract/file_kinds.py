"""A file's name -> the kind of document, and its bytes -> text."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import splitext
from typing import Literal

Format = Literal["markdown", "text", "html", "pdf", "code"]

_FORMATS: Mapping[str, Format] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
}
_LANGUAGES: Mapping[str, str] = {
    extension: language
    for language, extensions in {
        "bash": ".sh .bash .zsh",
        "c": ".c .h",
        "cpp": ".cc .cpp .cxx .hpp .hh .ino",
        "csharp": ".cs",
        "css": ".css .scss .less",
        "dart": ".dart",
        "elixir": ".ex .exs",
        "go": ".go",
        "haskell": ".hs",
        "java": ".java",
        "javascript": ".js .mjs .cjs .jsx",
        "json": ".json .jsonl",
        "julia": ".jl",
        "kotlin": ".kt .kts",
        "lua": ".lua",
        "ocaml": ".ml .mli",
        "perl": ".pl .pm",
        "php": ".php",
        "protobuf": ".proto",
        "python": ".py .pyi",
        "r": ".r",
        "ruby": ".rb",
        "rust": ".rs",
        "scala": ".scala",
        "sql": ".sql",
        "swift": ".swift",
        "toml": ".toml",
        "typescript": ".ts .tsx",
        "xml": ".xml .xsd .launch .urdf",
        "yaml": ".yaml .yml",
    }.items()
    for extension in extensions.split()
}
_LANGUAGES_BY_NAME: Mapping[str, str] = {"dockerfile": "dockerfile", "makefile": "makefile"}
_SNIFFED_BYTES = 8192
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANK_BYTES = codecs.BOM_UTF8 + codecs.BOM_UTF16 + b"\0 \t\n\v\f\r"


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """The format of a document, and for code the language."""

    kind: Format
    language: str = ""


def kind_of(name: str) -> DocumentKind:
    """The kind of a file by its *name*; text if the ending is unknown."""
    base = name.lower().rpartition("/")[2]
    extension = splitext(base)[1]
    language = _LANGUAGES.get(extension) or _LANGUAGES_BY_NAME.get(base)
    return (
        DocumentKind("code", language)
        if language
        else DocumentKind(_FORMATS.get(extension, "text"))
    )


def is_binary(content: bytes) -> bool:
    """Whether *content* has a NUL byte near its beginning, and no byte order mark of UTF-16."""
    return b"\0" in content[:_SNIFFED_BYTES] and not content.startswith(_UTF16_BOMS)


def is_blank(content: bytes) -> bool:
    """Whether *content* is only white space, perhaps after a byte order mark."""
    return not content.strip(_BLANK_BYTES)


def decode_text(content: bytes) -> str:
    """*content* as text: by its byte order mark, as UTF-8, else as windows-1252; never raises."""
    if content.startswith(_UTF16_BOMS):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
