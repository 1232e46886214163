"""Which language a file is in, and who reads it: where another language would be added."""

import warnings
from pathlib import PurePosixPath

from judge.codegraph.facts import FileFacts
from judge.codegraph.read.python_reader import read_python

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
_NAMED_SO = "go java php swift scala lua zig dart sql html css toml json"
_LANGUAGES = {
    **{f".{language}": language for language in _NAMED_SO.split()},
    **{suffix: language for language, found in _SUFFIXES.items() for suffix in found.split()},
}


def language_of(path: str) -> str:
    """The language of a file by its name; `text` when nothing is known.

    No module can be imported whose name has a colon, which ends the file in a symbol's id.
    """
    if ":" in path:
        return "text"
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower(), "text")


def read_facts(language: str, text: str) -> FileFacts | None:
    """The facts of a source *text*, or None when nobody here reads that language.

    A reader for a further language is one more branch here; what it returns is linked, stored and
    queried like the rest. Raise SyntaxError when the text does not parse.
    """
    with warnings.catch_warnings():
        # An odd escape in somebody's string is not our concern.
        warnings.simplefilter("ignore")
        try:
            match language:
                case "typescript" | "tsx":
                    # Few repositories have any; to load its reader costs 8 ms.
                    from judge.codegraph.read.typescript_reader import (  # noqa: PLC0415
                        read_typescript,
                    )

                    return read_typescript(text, is_jsx=language == "tsx")
                case "python":
                    return read_python(text)
                case _:
                    return None
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error)) from error
