"""The pages of a PDF, as text -> blocks; the page is the section, and lines count over all."""

from judge.search.indexing.readers.text_blocks import (
    DocumentText,
    TextBlock,
    paragraphs,
    split_lines,
)
from judge.types.search import PdfText


def read_pages(pdf: PdfText) -> DocumentText:
    """The paragraphs of all pages in order."""
    lines: list[str] = []
    blocks: list[TextBlock] = []
    for number, page in enumerate(pdf.pages, start=1):
        first = len(lines)
        lines += split_lines(page)
        found = list(paragraphs(lines, first=first, section=f"Page {number}"))
        blocks += [block._replace(opens=at == 0) for at, block in enumerate(found)]
    return DocumentText(tuple(blocks), title=pdf.title)
