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
        ("<main><table><caption>Fees<tr><td>1<td>2</table></main>", "Fees\n\n| 1 | 2 |"),
        ("<main><p>x<figure><img src=a><figcaption>A plan</figcaption></figure></main>", "A plan"),
        ("<main><fieldset><legend>Claim</legend><p>x</fieldset></main>", "Claim"),
        ("<ul><li><label><input type=checkbox>Defrost it</label><li>x</ul>", "Defrost it"),
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
        "<main><h2>Fees<span class='mw-editsection'>[secret]</span></h2></main>",
        "<main><p>x<figure><figcaption aria-hidden=true>secret</figcaption></figure></main>",
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
        ("## 1\\. Rent \\& fees", "1. Rent & fees"),
        ("## [Fees][1] of 2024[^2]", "Fees of 2024"),
        ("## See [[Lease 2024|the lease]]", "See the lease"),
        ("## [Rent](https://x.org/wiki/Rent_(law))", "Rent"),
        ("## [Rent](<my file.md>) ~~old~~", "Rent old"),
        ("## 5 * 3 of **a** and *b*", "5 * 3 of a and b"),
        ('<h2 align="center">Fees <b>due</b></h2>', "Fees due"),
        ("## [1.2.0] - 2024-05-01", "[1.2.0] - 2024-05-01"),
        ("## [x] List of a[0][1]", "[x] List of a[0][1]"),
        ("<!--\n## Not\n--> tail\n\n## Fees", "Fees"),
        ("text <!--\n## Not\n-->\n\n## Fees", "Fees"),
        ("<!-- ## Not -->\n## Fees", "Fees"),
        ("````run```` it\n\n## Fees", "Fees"),
        ("## Fees [![Build](b.svg)](https://x.org) [![npm](n.svg)](y)", "Fees Build npm"),
        ("## # Fees", "Fees"),
        ("## Fees\u200b", "Fees"),
        ('<h2 align="center">\n<br>\n<a href="/"><img src="x"></a>\n\n Fees\n</h2>', "Fees"),
        ("text\n<H2>\nFees\n</H2>\nmore", "Fees"),
        ("A comment begins with `<!--`.\n\n## Fees\n\nIt ends with `-->`.", "Fees"),
        ("## Fees\n\n- one\n---", "Fees"),
        ("## Fees <!-- omit in toc -->", "Fees"),
        ("## Fees <!-- {docsify-ignore} -->\n\n<!-- a\n## Not\n-->", "Fees"),
        ("Fees <!-- omit in toc -->\n----", "Fees"),
        ("## Fees <!-- ## Not\n## Nor -->", "Top"),
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


@pytest.mark.parametrize(
    ("above", "header", "row"),
    [
        (
            'Account name:,Current\nBalance:,"£1,204.11"\n',
            "Date,Text,Out,In",
            "1 May,SHOP {},2.20,",
        ),
        (
            '"Girokonto";"DE02"\n""\n',
            '"Tag";"Name";"Art";"IBAN";"Betrag"',
            '"1.5.24";"Werk {}";"";"DE1";"-1,50"',
        ),
        ("Members of 2024,,\n,,\n", "Name,Plot,Notes", 'Orla {},14,"likes dahlias, has a key"'),
        ("Stock list\n\n", "Item\tPlace", "Urn {}\tKitchen, left"),
        ("", "Name,Plot,Phone,Notes,Since,Until", "Orla {},14,,,,"),
        ("", ",Hall,Barn", "May {},12,3"),
        ("", "Name;Price;Weight", "Urn {};1,50;2,75"),
        ("", "Id,Note", 'A{},"one, two, three, four, five"'),
    ],
)
def test_header_of_a_table_is_below_what_is_told_of_it(above, header, row):
    rows = [row.format(number) for number in range(300)]
    passages = read("\n".join([above + header, *rows]), "a.csv").passages
    assert passages[0].text.startswith((above + header)[:9])
    assert all(header in p.text.split("\n") for p in passages[above != "" :])
    assert sum(p.text.count(row.format(299)) for p in passages) == 1


def test_questions_of_a_survey_are_read_once():
    questions = ",".join(f'"How content are you with the {n} of the building?"' for n in range(40))
    rows = "\n".join(f"{n},{','.join('12345678')}" for n in range(500))
    texts = [passage.text for passage in read(f"{questions}\n{rows}", "a.csv").passages]
    assert "".join(texts).count("the 7 of") == 1


def test_lines_that_do_not_run_on_are_not_cut():
    lines = [f"2026-01-01 {n} Pump stopped in the hall. Meter reads {n} units" for n in range(99)]
    for passage in read("\n".join(lines), "a.log").passages:
        assert set(passage.text.split("\n")) <= set(lines)


def test_colours_of_a_terminal_are_left_out():
    log = "\x1b[1;31mError\x1b[0m: \x1b]8;;http://x\x07pump\x1b]8;;\x07 [0m] stopped\x1b[K\n"
    assert text_of(log, "a.log") == "Error: pump [0m] stopped"


@pytest.mark.parametrize("name", ["a.Rmd", "a.qmd"])
def test_markdown_of_other_tools_is_markdown(name):
    assert read("---\ntitle: Bees\n---\n## Hives\n\nx", name).passages[0].title == "Bees"


@pytest.mark.parametrize(
    "line",
    [
        *("# Minutes", "== Minutes ==", "*** Minutes ***", "Minutes", "Minutes\n_______"),
        *("-----\nMinutes\n-----", "WEBVTT - Minutes", "~~~\nMinutes\n~~~"),
    ],
)
def test_title_of_a_text_is_without_its_marks(line):
    assert read(f"{line}\n\nPresent were Anna and Tom.", "a.txt").passages[0].title == "Minutes"
    assert read("Notes on C#\n\nIt is typed.", "a.txt").passages[0].title == "Notes on C#"
    assert read("WEBVTT\n\n00:01 --> 00:02\nHello", "a.vtt").passages[0].title == "a.vtt"


@pytest.mark.parametrize("line", ["=======", "-------", "~~~~~~~"])
def test_title_of_a_text_may_be_underlined(line):
    assert read(f"Minutes\n{line}\n\nPresent: A.", "a.txt").passages[0].title == "Minutes"
    assert read(f"Minutes\nof May\n{line}\n\nx.", "a.txt").passages[0].title == "a.txt"


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
        *((name, "Ladders") for name in ("PowerPoint-Präsentation", "Folie 1", "Sin título 2")),
        *((name, "Ladders") for name in ("Scan_2024-05-01", "Документ1", "IMG_2031", "Book1")),
        *((name, "Ladders") for name in ("Untitled-1", "Microsoft Word - x.docx", "paper.dvi")),
        *(
            (name, "Ladders")
            for name in ("Slide 1", "untitled document", "(anonymous)", "12", None)
        ),
        *((name, name) for name in ("Book of rules", "Scan results of 2024", "Image rights")),
        *((name, name) for name in ("The Untitled Tower", "Report 2024", "Microsoft Surface care")),
    ],
)
def test_placeholder_gives_way_to_the_first_heading(title, shown):
    pdf = PdfText(("Ladders\nThey are lent for two days.",), title)
    assert read(b"%PDF", "a.pdf", pdf).passages[0].title == shown


ALTERNATIVES = b"""Subject: s
Content-Type: multipart/alternative; boundary=X

--X
Content-Type: text/plain

%b
--X
Content-Type: text/html

<p hidden>secret</p><p>from the page</p>
--X--
"""
PARTS = b"""Subject: Fwd
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain

above
--X
Content-Type: text/csv; name=a.csv
Content-Disposition: attachment

secret,data
--X
Content-Type: text/plain

below
--X
Content-Type: message/rfc822

Subject: the lease
From: d@e.f

forwarded
--X--
"""


@pytest.mark.parametrize(
    ("mail", "text"),
    [
        (ALTERNATIVES % b" ", "from the page"),
        (ALTERNATIVES % b"from the plain text", "from the plain text"),
        (
            (ALTERNATIVES % b"See www.x.org/1").replace(b"the page", b"the page, which is longer"),
            "from the page, which is longer",
        ),
        (PARTS, "above\n\nbelow\n\nSubject: the lease\nFrom: d@e.f\n\nforwarded"),
        (b"Subject: s\nCc: a@b.c\n\nx", "Cc: a@b.c\n\nx"),
    ],
)
def test_every_part_of_a_mail_that_is_shown_is_read(mail, text):
    assert text_of(mail, "a.eml").replace("\n\n\n", "\n\n") == text


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("Page 1 of 9\nLadders\nx", "Ladders"),
        ("- 1 -\nSeite 1 von 9\n12.03.2024\nLadders", "Ladders"),
        ("Pages of history\nx", "Pages of history"),
    ],
)
def test_number_of_a_page_is_no_title(page, title):
    assert read(b"%PDF", "a.pdf", PdfText((page,), None)).passages[0].title == title


@pytest.mark.parametrize(
    ("name", "entry", "text"),
    [
        (
            "a.ics",
            "SUMMARY:A surv\r\n eyor\\, Anna\\nat noon\r\n",
            "SUMMARY:A surveyor, Anna at noon",
        ),
        (
            "a.vcf",
            f"FN:Anna\nPHOTO;ENCODING=b:{'QUJD' * 18}\n {'QUJD' * 50}\n",
            "FN:Anna\nPHOTO;ENCODING=b:",
        ),
    ],
)
def test_calendar_and_contacts_are_read_in_whole_lines(name, entry, text):
    card = f"BEGIN:VCARD\n{entry}END:VCARD"
    assert text_of(card, name) == f"BEGIN:VCARD\n{text}\nEND:VCARD"
    long = "\n".join([f"BEGIN:VCARD\nNOTE:{'word ' * 90}\nEND:VCARD"] * 9)
    assert all(p.text.startswith("BEGIN") for p in read(long, name).passages)


@pytest.mark.parametrize(
    "header",
    [
        'To: "a b" <',
        "From: a@[",
        "Date: Mon, 31 Feb 2024 10:00:00",
        "Content-Type: text/plain; charset*=utf-8''x",
        "Subject: =?x-unknown?Q?a?=",
    ],
)
def test_mail_with_a_broken_header_is_read(header):
    assert text_of(f"{header}\n\nthe boiler".encode(), "a.eml").endswith("the boiler")


def test_very_long_header_of_a_mail_is_cut():
    text = text_of(b"To: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nthe boiler", "a.eml")
    assert text.endswith("the boiler")
    assert len(text) < 20_000


def test_mail_in_mails_without_end_is_refused():
    parts = [b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(2000)]
    with pytest.raises(UnreadableDocument, match="nested"):
        read(b"".join(parts), "a.eml")


def test_saved_page_is_read_as_a_mail():
    page = b"Subject: Rules\nContent-Type: multipart/related; boundary=X\n\n--X\n"
    page += b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
    page += b"<p>keep =\nquiet</p>\n--X\n"
    page += b"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0K\n--X--\n"
    assert read(page, "a.MHT").passages[0].title == "Rules"
    assert text_of(page, "a.mhtml") == "keep quiet"


CELLS = ["<tr><td>Ladder<td><b>Shed</b><td>£5", "<tr><td>Drill<td><td><p>£9"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            f"<tr><th>Item<th>Place<th>Price{''.join(CELLS)}",
            "| Item | Place | Price |\n|---|---|---|\n| Ladder | Shed | £5 |\n| Drill | – | £9 |",
        ),
        ("".join(CELLS), "| Ladder | Shed | £5 |\n|---|---|---|\n| Drill | – | £9 |"),
        ("<tr><td><h2>Menu</h2>Home<td><h2>News</h2>Old", "## Menu\n\nHome\n## News\n\nOld"),
        (f"<tr><td>Menu<td>{'long ' * 99}", f"Menu\n\n{'long ' * 98}long"),
        ("<tr><td>Only one", "Only one"),
    ],
)
def test_row_of_a_table_is_a_line_unless_the_table_is_for_the_layout(markup, text):
    assert text_of(f"<table>{markup}</table>") == text


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("a.md", "| Item | Place |\n|---|:-:|", "| drill {} | hall and shed |"),
        ("a.html", "<table><tr><th>Item<th>Place", "<tr><td>drill {}<td>hall and shed"),
        ("a.md", "Prices:\n| Item | Place |\n|---|---|", "| drill {} | hall and shed |"),
        ("a.csv", "sep=;\nItem;Place", '24" drill {};hall and shed'),
        ("a.tab", "Item\tPlace", 'drill {}\thall "and" shed'),
    ],
)
def test_each_passage_of_a_long_table_has_the_names_of_its_columns(name, head, row):
    lines = [head, *(row.format(number) for number in range(300))]
    passages = read("\n".join(lines), name).passages
    assert len(passages) > 3
    for passage in passages:
        assert "Item" in passage.text.removeprefix("Prices:\n").split("\n")[0]
        assert passage.text.count("Item") == 1


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ol><li>a<li>b<ol type=a><li>x<li>y</ol></ol>", "1. a\n\n2. b\n\na. x\n\nb. y"),
        ("<ol start=4 type=I><li><p>a<p>b<li>\n<div>c</div></ol>", "IV. a\n\nb\n\nV. c"),
        ("<ol type=i><li><b>a</b> b<li>c</ol>", "i. a b\n\nii. c"),
        ("<ol><li><h2>Rent</h2><p>It is due.</ol>", "## 1. Rent\n\nIt is due."),
        (f"<ol start={'9' * 5000} type=a><li>a</ol>", "999999. a"),
        ("<ul><li>a<li><p>b</ul>", "- a\n\nb"),
    ],
)
def test_numbers_of_a_list_are_read(markup, text):
    assert text_of(f"<body>{markup}") == text


def test_pictures_in_a_text_are_left_out():
    data = "data:image/png;base64," + "QUJDREVG" * 400_000
    assert text_of(f"![a][1]\n\n[1]: <{data[:9000]}>", "a.md") == "![a][1]\n\n[1]: <data:>"
    page = read(f"<h1>Ferry</h1><img src='{data}'><h2>Winter</h2><p>none", "a.html")
    assert (page.passages[-1].section, page.warnings) == ("Winter", ())


def test_page_of_which_only_the_beginning_is_read_is_told():
    (warning,) = read("<p>one <b>two</b>" * 20_000, "a.html").warnings
    assert "beginning" in warning


@pytest.mark.parametrize("text", ["# 3 on it", "```", "~~~", "<!-- as such", "---", "= 3 <!-- is"])
def test_text_of_a_page_is_not_taken_for_markup(text):
    page = f"<h1>Club</h1><p>{text.replace('<', '&lt;')}<p>one<h2>Fees</h2><p>x"
    passages = read(page, "a.html").passages
    assert (passages[0].title, passages[0].section, passages[-1].section) == (
        "Club",
        "Club",
        "Fees",
    )
    assert text in passages[0].text


def test_damaged_pages_are_told():
    document = read(b"%PDF", "a.pdf", PdfText(("One.", "", "Three."), "T", damaged=(2,)))
    assert document.warnings == ("Left out, since damaged: page 2.",)


@pytest.mark.parametrize("kind", ["docx", "epub", "rst", "org", "tex", "ods", "msg", "pages"])
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
        ("Właściciel odpowiada za ogrzewanie, a najemca za drobne naprawy", "iso8859-2 cp1250"),
        ("Stanar plaća režije do desetog u mjesecu, uključujući grijanje", "iso8859-2 cp1250"),
        ("Café open 9½ hours, 30 m² × 2, ©2020 Foo®, El col·legi", "cp1252"),
        ("Ruhezeiten gelten für jeden von 22 bis 6 Uhr", "utf-16-le utf-16-be cp1252"),
        ("It’s mine", "cp1252 utf-16-le"),
        ("The oven is at 20° only", "cp1252"),
        ("租金每月支付，住A座。", "gb18030"),
        ("Le café est payé à la fin du mois; l’élève n’est pas là", "cp1252 utf-8-sig"),
        ("El niño pagó la señal mañana", "cp1252"),
        ("ผู้เช่าต้องจ่ายค่าเช่าทุกเดือน และหม้อน้ำเสีย", "cp874"),
        ("Nuomininkas moka nuomą kiekvieno mėnesio pradžioje, šildymas įjungiamas", "cp1257"),
    ],
)
def test_encoding_is_recognised(text, encodings):
    for encoding in encodings.split():
        assert decode_text(text.encode(encoding)) == text


def test_some_bad_bytes_leave_utf_8_and_a_declaration_counts():
    assert decode_text("Schlüssel für Türen ".encode() + b"\xfc") == "Schlüssel für Türen ü"
    cookie = "# -*- coding: cp1251 -*-\n# ключ"
    assert decode_text(cookie.encode("cp1251")) == cookie
    declared = '<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź</a>'
    assert decode_text(declared.encode("iso8859-2")) == declared
