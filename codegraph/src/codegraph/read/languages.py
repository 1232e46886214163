"""Which language a file is in, and which reader reads it. Another language would be added here."""

import ast
import warnings
from importlib.util import find_spec
from pathlib import PurePosixPath

from codegraph.facts import FileFacts, new_facts
from codegraph.read.statement_reader import StatementReader

_SUFFIXES = {
    "python": ".py .pyi",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "kotlin": ".kt .kts",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hh .hpp",
    "csharp": ".cs",
    "elixir": ".ex .exs",
    "haskell": ".hs",
    "shell": ".sh .bash",
    "rust": ".rs",
    "ruby": ".rb",
    "markdown": ".md",
    "restructuredtext": ".rst",
    "yaml": ".yaml .yml",
}
#: Languages whose suffix is their name.
_SUFFIX_IS_NAME = "go java php swift scala lua zig dart sql html css toml json"
_LANGUAGES = {
    **{f".{language}": language for language in _SUFFIX_IS_NAME.split()},
    **{suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()},
}


def language_of(path: str) -> str:
    """The language of a file by its suffix; `text` when it is unknown.

    A path with a colon is `text`: in a symbol's id, a colon ends the path.
    """
    if ":" in path:
        return "text"
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower(), "text")


def has_reader(language: str) -> bool:
    """Whether files in *language* need the extra `typescript`, and it is installed."""
    return language in ("typescript", "tsx") and bool(find_spec("tree_sitter_typescript"))


def read_facts(language: str, text: str) -> FileFacts | None:
    """The facts of a source *text*, or None when there is no reader for that language.

    A reader for another language is one more branch here; its facts are linked, stored and queried
    like the others. Raise SyntaxError when the text does not parse.
    """
    with warnings.catch_warnings():
        # Python warns about invalid escapes in the strings of the code that is read.
        warnings.simplefilter("ignore")
        try:
            match language:
                case "typescript" | "tsx":
                    # Few repositories need this reader, and importing it takes 8 ms.
                    from codegraph.read.typescript_reader import (  # noqa: PLC0415
                        read_typescript,
                    )

                    return read_typescript(text, is_jsx=language == "tsx")
                case "python":
                    lines = text.removesuffix("\n").count("\n") + 1
                    reader = StatementReader(new_facts(lines))
                    for statement in ast.parse(text).body:
                        reader.read_top_level(statement)
                    return reader.finish()
                case _:
                    return None
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error)) from error
