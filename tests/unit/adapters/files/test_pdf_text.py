"""The text of PDFs, valid and invalid, read in another process."""

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from io import BytesIO

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from judge.adapters.files.pdf_text import is_glyph_codes, joined_words, pdf_reader, read_pdf
from judge.errors import UnreadableDocument
from judge.types.search import PdfText


def pdf_text(content: bytes, **options) -> PdfText:
    with pdf_reader(**options) as read:
        return read(content)


def pdf(*pages: str, title: str = "", password: str = "", changed: str = "") -> bytes:
    """A PDF with these texts, one on each page."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if title:
        writer.add_metadata({"/Title": title})
    if changed:
        writer.add_metadata({"/CreationDate": "D:20200101", "/ModDate": changed})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.process
def test_another_process_gives_pages_and_title():
    found = pdf_text(pdf("Hello robot", "Second page", title="A book"))
    assert (found.pages, found.title) == (("Hello robot", "Second page"), "A book")


@pytest.mark.process
@pytest.mark.parametrize(
    ("changed", "day"),
    [
        ("D:20260312101500+01'00'", date(2026, 3, 12)),
        ("last spring", date(2020, 1, 1)),
    ],
)
def test_the_date_is_that_of_the_last_change_or_else_of_the_making(changed, day):
    assert pdf_text(pdf("Hello robot", changed=changed)).updated == day


def test_a_title_that_is_no_text_is_none():
    content = pdf("Hello robot", title="A book").replace(b"(A book)", b"null    ")
    assert read_pdf(content, timeout_s=10)["title"] is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"%PDF-1.4\nnonsense", "broken"),
        (b"", "broken"),
        (pdf("secret", password="key"), "encrypted"),
        (pdf(""), "only pictures"),
        (pdf("\\000\\001 \\000"), "only pictures"),
    ],
)
def test_unreadable_pdf_is_explained(content, told):
    assert told in read_pdf(content, timeout_s=10)["problem"]


def test_too_much_text_is_refused():
    assert "over 1 pages" in read_pdf(pdf("a", "b"), timeout_s=10, max_pages=1)["problem"]
    assert "over 3 characters" in read_pdf(pdf("abcdef"), timeout_s=10, max_text=3)["problem"]


def test_the_time_is_bounded_between_pages():
    assert "Only 1 of its pages" in read_pdf(pdf("a", "b"), timeout_s=-1)["problem"]


@pytest.mark.process
def test_hanging_reader_is_killed():
    with pytest.raises(UnreadableDocument, match=r"longer than 0\.001 s"):
        pdf_text(pdf("a"), timeout_s=0.001)


@pytest.mark.process
def test_crashed_reader_is_reported():
    with pytest.raises(UnreadableDocument, match="gave up"):
        pdf_text(pdf("a"), python="/bin/true")


@pytest.mark.process
def test_one_process_reads_all_and_another_takes_over_after_a_bad_one(monkeypatch):
    started, popen = [], subprocess.Popen

    def noted(*args, **options):
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pdf_reader() as read:
        assert [read(pdf(name)).pages for name in "abc"] == [("a",), ("b",), ("c",)]
        started[0].kill()
        started[0].wait()
        assert read(pdf("d")).pages == ("d",)
    assert [process.poll() is None for process in started] == [False, False]


@pytest.mark.process
def test_leaving_the_block_ends_a_reading_in_another_thread(tmp_path, monkeypatch):
    endless, started, popen = tmp_path / "endless", threading.Event(), subprocess.Popen
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o755)

    def noted(*args, **options):
        process = popen(*args, **options)
        started.set()
        return process

    monkeypatch.setattr(subprocess, "Popen", noted)
    with ThreadPoolExecutor() as threads:
        with pdf_reader(python=str(endless)) as read:
            reading = threads.submit(read, pdf("a"))
            assert started.wait(20)
        assert isinstance(reading.exception(20), UnreadableDocument)
    with pytest.raises(UnreadableDocument, match="stopped"):
        read(pdf("a"))


@pytest.mark.parametrize(
    ("extracted", "text"),
    [
        ("the elec-\ntricity of", "the electricity of"),
        ("the co\u00ad\noperative", "the cooperative"),
        ("2024-\n2026 and North-\nEast", "2024-\n2026 and North-\nEast"),
        ("a well-known, well-\nknown road", "a well-known, well-known road"),
        ("a dash -\nand more", "a dash -\nand more"),
    ],
)
def test_words_cut_at_line_ends_are_joined(extracted, text):
    assert joined_words(extracted) == text


@pytest.mark.parametrize(
    ("text", "is_codes"),
    [
        ("/g100 /g106 /g116", True),
        ("/gid00017/gid00042 /gid00013", True),
        ("(cid:12)(cid:40) (cid:7)", True),
        ("cab cafe face gad", False),
        ("c1" * 50_000 + "z", False),
        ("G7 and g8 meet in uni 12 of the town", False),
    ],
)
def test_names_of_glyphs_are_no_text(text, is_codes):
    assert is_glyph_codes(text) is is_codes
