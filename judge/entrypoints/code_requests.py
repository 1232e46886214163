"""Requests about a repository's code graph, for every entrypoint but the command line."""

from typing import Annotated, Any

from codegraph.errors import BadPattern
from codegraph.query.code_graph import CodeGraph
from codegraph.query.formats import Result, as_json
from pydantic import Field

from judge.bootstrap.code_roots import CodeRoots
from judge.types.request_fields import StrictModel

Repo = Annotated[
    str | None,
    Field(description="A name from JUDGE_CODE_ROOTS; may be left out when there is only one."),
]
Symbol = Annotated[
    str, Field(min_length=1, max_length=500, description="A name, Class.method or a full name.")
]
Limit = Annotated[int, Field(ge=1, le=200, description="The most items to return.")]


class _CodeRequest(StrictModel):
    repo: Repo = None


class CodeSearch(_CodeRequest):
    """Find the lines that contain a text, or with `ranked` what a question is about."""

    query: Annotated[str, Field(min_length=1, max_length=500, description="What to look for.")]
    limit: Limit = 20
    regex: Annotated[bool, Field(description="The query is a regular expression.")] = False
    ignore_case: Annotated[bool, Field(description="Ignore case.")] = False
    ranked: Annotated[
        bool, Field(description="The query is a question: definitions by relevance, best first.")
    ] = False

    def answer(self, graph: CodeGraph) -> Result:
        """See CodeGraph.search and CodeGraph.rank."""
        if self.ranked and self.regex:
            raise BadPattern("`ranked` takes words and `regex` an expression: leave out one.")
        if self.ranked:
            return graph.rank(self.query, self.limit)
        return graph.search(
            self.query, self.limit, is_regex=self.regex, ignore_case=self.ignore_case
        )


class WhereUsed(_CodeRequest):
    """Find the definitions and uses of a symbol."""

    symbol: Symbol
    limit: Limit = 50
    possible: Annotated[bool, Field(description="Also show uses on receivers of unknown type.")] = (
        False
    )
    text: Annotated[bool, Field(description="Also show lines that only mention the name.")] = False

    def answer(self, graph: CodeGraph) -> Result:
        """See CodeGraph.where_used."""
        return graph.where_used(
            self.symbol, self.limit, with_possible=self.possible, with_text=self.text
        )


class LineageRequest(_CodeRequest):
    """Follow what a symbol depends on, or what depends on it."""

    symbol: Symbol
    direction: Annotated[
        str,
        Field(
            max_length=40,
            description="upstream: what it depends on; downstream: what depends on it.",
        ),
    ] = "downstream"
    max_results: Limit = 50
    depth: Annotated[int | None, Field(ge=1, description="The most steps to follow.")] = None

    def answer(self, graph: CodeGraph) -> Result:
        """See CodeGraph.lineage."""
        return graph.lineage(self.symbol, self.direction, self.max_results, depth=self.depth)


class CodeContext(_CodeRequest):
    """Get what an editor needs to know about a symbol.

    That is its source, its docstring, its callers and callees with the lines around them, and the
    tests that reach it.
    """

    symbol: Symbol
    tokens: Annotated[
        int, Field(ge=200, le=20_000, description="The approximate size of the answer.")
    ] = 4000

    def answer(self, graph: CodeGraph) -> Result:
        """See CodeGraph.context."""
        return graph.context(self.symbol, self.tokens)


CodeQuestion = CodeSearch | WhereUsed | LineageRequest | CodeContext


async def ask_graph(question: CodeQuestion, roots: CodeRoots) -> dict[str, Any]:
    """The answer as JSON; raises the errors of CodeRoots.ask and those of CodeGraph."""
    return as_json(await roots.ask(question.repo, question.answer))
