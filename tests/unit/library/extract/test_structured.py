"""Tables, data, mail and pages as people have them; neighbours of the cases in ../shared."""

import json

import pytest

from judge.errors import UnreadableDocument
from judge.library.extract.document_reader import DocumentMetadata, read_document
from judge.text.decoding import decode_text
from judge.types.search import PdfText


def read(content, name, pdf=None):
    raw = content if isinstance(content, bytes) else content.encode()
    return read_document(raw, DocumentMetadata("c", name, name, name), lambda _: pdf)


def text_of(content, name="a.html"):
    return "\n".join(passage.text for passage in read(content, name).passages)


@pytest.mark.parametrize(
    ("markup", "word"),
    [
        ("<main><div role=tabpanel aria-hidden=true><p>basalt</div></main>", "basalt"),
        ("<main><section role=tabpanel style='display:none'><p>basalt</section></main>", "basalt"),
        (
            "<main><button aria-controls=x>q</button><div id=x hidden><p>basalt</div></main>",
            "basalt",
        ),
        ("<main><p>x<div hidden=Until-Found><p>flint</div></main>", "flint"),
        ("<main>\n<!-- app --></main><div><p>pumice</div>", "pumice"),
        ("<div><main><p>x</main></div><div class=content><p>slate</div>", "slate"),
        ("<main><select><optgroup><option>Gneiss<option>Schist</select></main>", "Gneiss, Schist"),
        ("<main><picture><source><img alt='an arch'></picture></main>", "an arch"),
        ("<main><p>land&shy;lord care&#8203;taker</main>", "landlord caretaker"),
    ],
)
def test_page_shows_what_its_readers_can_see(markup, word):
    assert word in text_of(f"<title>T</title><body>{markup}")


@pytest.mark.parametrize(
    "markup",
    [
        "<div hidden><p>secret</div>",
        "<header><p>secret</header><main><p>x</main>",
        "<main><p>x</main><nav><p>secret</nav><footer><p>secret</footer><aside>secret</aside>",
        "<main><p>x</main><div class='cookie-banner'><p>secret</div>",
    ],
)
def test_page_hides_what_is_not_its_own(markup):
    assert "secret" not in text_of(f"{markup}<p>more")


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("## Fees {#fees data-x='1'}", "Fees"),
        ('## Fees [¶](#fees "Permalink")', "Fees"),
        ("## Fees &para;", "Fees"),
        ("## C# and F#", "C# and F#"),
        ("<!--\n## Not\n--> tail\n\n## Fees", "Fees"),
        ("text <!--\n## Not\n-->\n\n## Fees", "Fees"),
        ("<!-- ## Not -->\n## Fees", "Fees"),
        ("````run```` it\n\n## Fees", "Fees"),
    ],
)
def test_heading_is_its_words(heading, section):
    assert read(f"# Top\n\n{heading}\n\nx", "a.md").passages[-1].section == section


def test_rows_stay_whole_below_their_header():
    rows = [f'{n},"line {n}\nsecond"' for n in range(400)]
    passages = read("\n".join(["id,note", *rows]), "a.csv").passages
    assert len(passages) > 3
    for passage in passages:
        header, _, rest = passage.text.partition("\n")
        assert header == "id,note"
        assert rest.count('"') % 2 == 0
    assert text_of("\ufeffname\tage\nA\t1\n", "a.tsv") == "name\tage\nA\t1"
    with pytest.raises(UnreadableDocument):
        read("\n\n", "a.csv")


def test_lines_that_do_not_run_on_are_not_cut():
    lines = [f"2026-01-01 {n} Pump stopped in the hall. Meter reads {n} units" for n in range(99)]
    for passage in read("\n".join(lines), "a.log").passages:
        assert set(passage.text.split("\n")) <= set(lines)


def test_data_is_read_without_escapes_and_blobs():
    data = {"t": "Grüße \U0001f600\nnew", "b": "A" * 500, "q": 'say "hi"'}
    text = text_of(json.dumps(data), "a.json")
    assert all(part in text for part in ("Grüße \U0001f600 new", 'say "hi"'))
    assert "AAAA" not in text
    assert text_of('{"broken": ', "a.json") == '{"broken": '
    assert text_of("\n".join(json.dumps({"n": "a\nü"}) for _ in "xy"), "a.jsonl").count("a ü") == 2


def test_notebook_is_its_cells_and_what_they_printed():
    outputs = [{"text": ["plover\n"]}, {"data": {"text/plain": "curlew", "image/png": "A" * 500}}]
    cells = [
        {"cell_type": "markdown", "source": ["# Birds\n", "heron"]},
        {"cell_type": "code", "source": "print(1)", "outputs": outputs},
    ]
    document = read(json.dumps({"cells": cells}), "a.ipynb")
    assert document.passages[0].title == "Birds"
    text = "\n".join(passage.text for passage in document.passages)
    assert all(word in text for word in ("heron", "print(1)", "plover", "curlew"))
    assert "AAAA" not in text
    assert text_of('{"worksheets": []}', "a.ipynb") == '{"worksheets": []}'


@pytest.mark.parametrize(
    ("mail", "title", "text"),
    [
        (b"Subject: =?utf-8?Q?K=C3=BCche?=\nFrom: a@b.c\n\nx=y", "Küche", "From: a@b.c\n\nx=y"),
        (b"Subject: s\nContent-Type: text/html\n\n<p>one <b>two</b>", "s", "one two"),
        (b"Subject: s\nContent-Type: text/plain; charset=odd\n\ncaf\xe9", "s", "café"),
        (b"no headers", "a.eml", "no headers"),
    ],
)
def test_mail_is_its_text_below_its_writers(mail, title, text):
    document = read(mail, "a.eml")
    assert (document.passages[0].title, text_of(mail, "a.eml")) == (title, text)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        *((name, "Ladders") for name in ("Untitled-1", "Microsoft Word - x.docx", "paper.dvi")),
        *(
            (name, "Ladders")
            for name in ("Slide 1", "untitled document", "(anonymous)", "12", None)
        ),
        *((name, name) for name in ("The Untitled Tower", "Report 2024", "Microsoft Surface care")),
    ],
)
def test_placeholder_gives_way_to_the_first_heading(title, shown):
    pdf = PdfText(("Ladders\nThey are lent for two days.",), title)
    assert read(b"%PDF", "a.pdf", pdf).passages[0].title == shown


def test_damaged_pages_are_told():
    document = read(b"%PDF", "a.pdf", PdfText(("One.", "", "Three."), "T", damaged=(2,)))
    assert document.warnings == ("Left out, since damaged: page 2.",)


@pytest.mark.parametrize("kind", ["docx", "epub", "rst", "org", "tex"])
def test_format_that_nothing_reads_is_refused_in_words(kind):
    with pytest.raises(UnreadableDocument, match=f"of the kind {kind} are read only where pandoc"):
        read(b"PK\x03\x04\0", f"a.{kind}")


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("Ключи от подвала лежат у сторожа, а отопление включают осенью", "cp1251 koi8-r cp866"),
        ("大家は暖房設備を修理しなければなりません。", "shift_jis euc_jp iso2022_jp utf-32"),
        ("租客每月支付租金,房东修理锅炉。钥匙在管理员那里。", "gbk gb18030"),
        ("Ο ενοικιαστής πληρώνει το ενοίκιο", "cp1253"),
        ("Najemca płaci czynsz do dziesiątego każdego miesiąca", "cp1250 utf-16"),
        ("Le café est payé à la fin du mois; l’élève n’est pas là", "cp1252 utf-8-sig"),
        ("El niño pagó la señal mañana", "cp1252"),
    ],
)
def test_encoding_is_recognised(text, encodings):
    for encoding in encodings.split():
        assert decode_text(text.encode(encoding)) == text


def test_some_bad_bytes_leave_utf_8_and_a_declaration_counts():
    assert decode_text("Schlüssel für Türen ".encode() + b"\xfc") == "Schlüssel für Türen ü"
    cookie = "# -*- coding: cp1251 -*-\n# ключ"
    assert decode_text(cookie.encode("cp1251")) == cookie
