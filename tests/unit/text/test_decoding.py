"""Which encoding is used, and that no label causes an error."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.decoding import html_as_utf8


def decoded(body, label=""):
    return html_as_utf8(body, label).decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_wins_over_the_header(mark, encoding):
    assert decoded(mark + "é£".encode(encoding), "koi8-r") == "é£"


def test_the_header_wins_over_utf_8():
    assert decoded("Привет".encode("koi8-r"), "KOI8-R") == "Привет"
    assert decoded("é".encode(), "windows-1252") == "Ã©"


@pytest.mark.parametrize(
    "declared",
    [
        b'<meta charset="windows-1251">',
        b"<META CHARSET = windows-1251 >",
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        b"<head><!-- " + b"a long licence " * 1000 + b"--><meta charset=windows-1251>",
        b'<?xml version="1.0" encoding="windows-1251"?>',
        b"<!-- <meta charset=utf-8> --><meta charset=windows-1251>",
        b"<script>s = '<meta charset=utf-8>'</script><meta charset=windows-1251>",
        b"<meta data-charset=utf-8 name=a><meta charset=windows-1251>",
        b'<meta name=a content="charset=koi8-r is a name"><meta charset=windows-1251>',
        b"<meta content='x; charset=koi8-r' name=a><meta charset=windows-1251>",
        b"<meta content='text/html; charset=windows-1251' http-equiv=Content-Type>",
        b"<meta charset=utf-8><p>" + "Здравствуйте, дорогие друзья. ".encode("cp1251") * 3,
        b"<metadata charset=utf-8><meta charset=windows-1251>",
    ],
)
def test_declared_encoding_is_used_if_the_bytes_are_not_utf_8(declared):
    assert decoded(declared + "Привет".encode("cp1251")).endswith("Привет")


@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "ASCII", "us-ascii", " 'windows-1252' "])
def test_the_labels_of_western_europe_mean_windows_1252(label):
    assert decoded(b"\x80 5", label) == "€ 5"


@pytest.mark.parametrize(
    "label",
    ["nonsense", "", "\0", "é", "hex", "rot13", "idna", "punycode", "utf-7", "unicode_escape"],
)
def test_unsuitable_labels_are_ignored(label):
    assert decoded("é \\x41 +AGE-".encode(), label) == "é \\x41 +AGE-"


@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_and_any_label_give_text(body, label):
    assert isinstance(html_as_utf8(body, label), bytes)
