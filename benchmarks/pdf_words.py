"""How many of the words that poppler's pdftotext finds in PDFs Judge's reader finds too.

    python -m benchmarks.pdf_words FOLDER

Reads every PDF below FOLDER; `pdftotext` must be installed. Words of three letters and more are
counted in each, whatever their order; the PDFs with the smallest share are named.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from judge.adapters.files.pdf_text import pdf_reader
from judge.errors import UnreadableDocument

WORD = re.compile(r"[^\W\d_]{3,}")
NAMED = 10


def words_of(text: str) -> Counter[str]:
    """The words of *text*; a hyphen at the end of a line joins its halves."""
    return Counter(WORD.findall(text.replace("-\n", "").lower()))


def words_of_pdftotext(path: Path) -> Counter[str]:
    """The words of the PDF at *path*; none if pdftotext cannot read it either."""
    command = ["pdftotext", "-q", path, "-"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return words_of(done.stdout.decode(errors="replace"))


def main() -> None:
    shares, refused, found, there = [], 0, 0, 0
    with pdf_reader() as read:
        for path in sorted(Path(sys.argv[1]).rglob("*.pdf")):
            expected = words_of_pdftotext(path)
            try:
                ours = words_of("\n".join(read(path.read_bytes()).pages))
            except UnreadableDocument as error:
                refused += 1
                if expected:
                    print(f"refused: {path.name}, {expected.total()} words: {error}")
                continue
            same = (expected & ours).total()
            found, there = found + same, there + expected.total()
            shares.append((same / max(1, expected.total()), expected.total(), path.name))
    print(f"{len(shares)} PDFs read, {refused} refused: {found} of {there} words found")
    for share, count, name in sorted(shares)[:NAMED]:
        if count:
            print(f"{share:.2f} of {count} words: {name}")


if __name__ == "__main__":
    main()
