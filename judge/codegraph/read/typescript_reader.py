"""TypeScript source -> the facts of one file, through tree-sitter; the extra `typescript`.

Definitions, imports and what names them are read, and the types that are written down or plain to
see (`new A()`); blocks count as part of their function, and no flow of control is followed.
"""

import re

from judge.codegraph.facts import FileFacts, new_facts
from judge.codegraph.read.typescript_tree import TypescriptTreeReader

#: `<in out T>` and `export type *` of TypeScript 4.7 and 5.0, which the grammar does not know.
_NEWER = re.compile(
    rb"(?<![\w$.])(?:in[ \t]+)?(?:out|in)(?=[ \t]+[A-Z])|(?<=\bexport )type(?=[ \t]*\*)"
)


def read_typescript(text: str, *, is_jsx: bool) -> FileFacts | None:
    """The facts of the TypeScript source *text*, or None without the extra.

    Raise SyntaxError when it does not parse.
    """
    try:
        import tree_sitter_typescript as grammar  # noqa: PLC0415 - an extra
        from tree_sitter import Language, Parser  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    language = grammar.language_tsx() if is_jsx else grammar.language_typescript()
    parser, source = Parser(Language(language)), text.encode()
    root = parser.parse(source).root_node
    if root.has_error:
        root = parser.parse(_NEWER.sub(_blank, source)).root_node
    if root.has_error:
        raise SyntaxError("tree-sitter cannot parse all of it")
    facts = new_facts(text.count("\n") + 1)
    TypescriptTreeReader(facts).read(root)
    return facts


def _blank(found: re.Match[bytes]) -> bytes:
    return b" " * len(found[0])
