"""Files that pandoc converts, where it is installed."""

import shutil
import subprocess

import pytest

from judge.adapters.files.document_files import pandoc_html
from judge.errors import UnreadableDocument
from judge.library.extract.document_reader import DocumentMetadata, read_document

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not shutil.which("pandoc"), reason="pandoc is not installed"),
]

SENTENCE = "A landlord must keep the boiler in repair."
WRITTEN = {
    "rst": f"Repairs\n=======\n\n{SENTENCE}\n",
    "org": f"* Repairs\n{SENTENCE}\n",
    "tex": "\\documentclass{article}\\begin{document}\\section{Repairs}"
    f"{SENTENCE}\\end{{document}}",
}


@pytest.mark.parametrize("kind", ["docx", "epub", "odt", "rst", "org", "tex"])
def test_headings_and_sentences_are_kept(kind):
    if kind in WRITTEN:
        content = WRITTEN[kind].encode()
    else:
        command = ["pandoc", "--from=markdown", f"--to={kind}", "--output=-", "-Mtitle=x"]
        written = f"# Repairs\n\n{SENTENCE}\n".encode()
        content = subprocess.run(command, input=written, capture_output=True, check=True).stdout

    page = pandoc_html(content, kind).decode()

    assert "Repairs</h1>" in page
    assert SENTENCE in " ".join(page.split())


def test_title_tags_and_rows_are_those_of_the_document():
    def read(content, name):
        meta = DocumentMetadata("c", name, name, name)
        return read_document(content, meta, lambda _: None, pandoc_html).passages[0]

    written = b"#+TITLE: Minutes\n* Spring :board:\n| Item | Place |\n|--+--|\n| Drill | Hall |\n"
    passage = read(written, "a.org")
    assert (passage.title, passage.section) == ("Minutes", "Spring")
    assert "| Item | Place |\n|---|---|\n| Drill | Hall |" in passage.text
    assert read(b"The boiler.", "notes.rst").title == "notes.rst"


def test_damaged_file_is_refused_in_words():
    with pytest.raises(UnreadableDocument, match=r"pandoc did not convert it: \w+"):
        pandoc_html(b"PK not a zip", "docx")


def test_converted_file_opens_no_other_file(tmp_path):
    other = tmp_path / "secret.tex"
    other.write_text("the secret")
    content = f"\\input{{{other}}} Seen.".encode()

    assert "the secret" not in pandoc_html(content, "tex").decode()
