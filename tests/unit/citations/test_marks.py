"""What is read as a citation mark, what as text, and what names a reference outside of brackets."""

from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_marks, read_marks

MARKS: dict[str, tuple[int, ...]] = {
    "[1]": (1,), "[1, 3]": (1, 3), "[1-3]": (1, 2, 3), "[1–3]": (1, 2, 3), "【1】": (1,),
    "［２］": (2,), "〔2〕": (2,), "⟦2⟧": (2,), "〖2〗": (2,), "[1】": (1,), "[ 1 ]": (1,),
    "[1 and 2]": (1, 2), "[1;2 & 3]": (1, 2, 3), "[1-2, 5]": (1, 2, 5), "[2, 2]": (2,),
    "[3, 1]": (3, 1), "[[1]]": (1,), "[[1], 9]": (1, 9), "[2024]": (2024,), "[1\n]": (1,),
    "[1 2]": (1, 2), "[1 or 9]": (1, 9), "[1 to 3]": (1, 2, 3), "[1/9]": (1, 9),
    "[1..3]": (1, 2, 3),
    "[^1]": (1,), "[#9]": (9,), "[9.]": (9,), "[¹²]": (12,), "[①]": (1,), "[九]": (9,), "[٢]": (2,),
    "[ref 2]": (2,), "[Ref2]": (2,), "[Reference Nine]": (9,), "[the 9th source]": (9,),
    "[ref. IX]": (9,), "[source: 3]": (3,), "[no. 9]": (9,), "[see also 9]": (9,),
    "[siehe Quelle 9]": (9,), "[9, p. 4]": (9,), "[2, paras 3-5]": (2,), "[1 {4}]": (1,),
    "[1†source]": (1,), "【9†L1-L4】": (9,), "[ref-1]": (1,), "[from source 9]": (9,),
    "【4:0†file】": (4, 0), "【5:1†rent guide.pdf】": (5, 1),
    "['9']": (9,), "[(1)]": (1,), "[_9_]": (9,),
    "[**9**]": (9,), "`[9]`": (9,), "[`9`]": (9,), "\\[9\\]": (9,), "&#91;1&#93;": (1,),
    "&amp;lbrack;1&rbrack;": (1,), "%5B1%255D": (1,), "\\u005b1\\u005d": (1,), "[&#57;]": (9,),
    "<sup>[1]</sup>": (1,), "&lt;b&gt;[1]&lt;/b&gt;": (1,), "[<b>1</b>]": (1,), "[\u200b1]": (1,),
    "[1\u0338]": (1,), "land[9]lord": (9,), "[9 9see]": (9,),
    "〚9〛": (9,), "⁅9⁆": (9,), "❲9❳": (9,), "﹝9﹞": (9,), "[ㅤ9ᅠ]": (9,), "&#000000000091;9]": (9,),
    "&#x0000005b;9]": (9,), "\\u005b\\u0039\\u005d": (9,), "\\U0000005b9\\U0000005d": (9,),
    "[n° 9]": (9,), "[№ 9]": (9,), "[cited: 9]": (9,), "[1, § 4; 9, § 2]": (1, 9),
    "[1 e 9]": (1, 9), "[9, art. 8]": (9,), "[9, cl. 3, table 1]": (9,), "[9, pp. 4 ff.]": (9,),
    "[ref 9, col. 2]": (9,), "[9, Part 2]": (9,),
    "[9](https://a.example/x)": (9,), "[1](#ref-1)": (1,),
}  # fmt: skip
MALFORMED = ("[-1]", "[−9]", "[3-1]", "[1-1000000]")
TEXT = (
    "[sic]", "[]", "[...]", "(1)", "{9}", "<9>", "«within 14 days»", "‹14›", "「10 days」", "⁽¹⁾",
    "<b>10</b>", "<sup>9</sup> is", "[here](#fn9)", "[Section 21](https://a.example/1)", "[2 bed]",
    "[10 days]", "[2-bed]", "[£9]", "[9%]", "[1.5]", "[½]", "[1,500]", "[24/7]", "[50/50]",
    "[2 + 2 = 4]", "[12/11/2026, 09:14:22] Me", "[2026-11-12]", "[12.11.2026]", "[9:30]", "[9am]",
    "[At 9pm]", "[020 7946 0000]", "[07700 900123]", "Form [N5B]", "[Vaillant 835]", "[section 21]",
    "[p. 4]", "[see page 4]", "[3 of 9]", "[IX]", "[no one]", "[the first]", "[9m]", "[9: gov.uk]",
    "Samuels v Birmingham [2019] UKSC 28", "[1998] 1 WLR 896", "[2003] EWCA Civ 1234",
    "[1932] A.C. 562", "[2005] 2 All ER 345", "[1990] Ch. 1", "[1964] 2 Lloyd's Rep 1",
    "[2014] EWFC B33", "[2002] 1 P & CR 8", "[2002] L & TR 26", "[1998] L. & T.R. 1",
    "OJ [2011] L304/64", "[2004] 2 SLR(R) 594", "[2016] EUECJ C-123/15", "[2001] 1 All ER (D) 9",
    "[art. 8; cl. 3]", "[fig. 2, table 1]", "[Part 2]", "[p. 4 ff.]",
    "[§ 21]", "[§§ 12-13]", "[E119]", "code [E9]", "[₹900]", "[50¢]", "[9‰]", "[24h]", "[30s]",
    "[25F]", "[Section 21(4)]", "[s. 11(1)(a)]", "[art. 8(2)]",
    "OJ [2004] L 158", "[2005] ECR I-123", "`a[0]`", "```python\na[0] = b[9]\n```", "https://a.example/?a[0]=1&b[9]=2",
    "[" + "a" * 300 + "1]", "9]", "]9[",
)  # fmt: skip
UNCLEAR = ("[9a]", "[9?]", "[9-ish]", "[ref 9b]", "[+9]", "[? 9]", "[9 or so]", "[1, 9a]", "[9(a)]",
           "[9-a]", "[1a; 9b]", "[1 & 9?]")  # fmt: skip
BARE = {
    "As reference 9 says": (9,), "see ref. 9 there": (9,), "(source: 9)": (9,),
    "reference no. 9 and source 2": (9, 2), "Source nine agrees": (9,),
    "sources 1 to 9 say": (1, 9),
    "the ninth reference": (9,), "The 9th source settles it": (9,), "the guidance⁹ for": (9,),
    "theirs.⁸": (8,), "says ¹²": (12,), "as [1] and 9.": (9,), "[1]-9": (9,), "so †9": (9,),
    "\\cite{9}": (9,), "turn0search9": (9,), '<cite i="9"/>': (9,), "it is [9": (9,),
    "that<sup>9</sup>": (9,), 'that<sup class="fn">9</sup>': (9,), "plain <ref>9</ref>": (9,),
    "that<sup>1,9</sup>": (1, 9), "that<sup><a href='#9'>9</a></sup>": (9,),
    "\\parencite{9}": (9,), "\\citep[p. 4]{9}": (9,), "As Ref9 says": (9,), "Source (9)": (9,),
    "reference IX says": (9,), "Quelle 9 sagt": (9,), "la fuente 9": (9,), "as source-9 says": (9,),
    "The eighth and ninth references": (8, 9), "〚9 and": (9,), "the 1st or the 9th source": (1, 9),
}  # fmt: skip
EVERYDAY = (
    "a good reference 3 years ago", "references 5 days later", "quote reference 45 when you ring",
    "Give your reference 45.", "two sources of income", "With reference to 9 Acacia Road",
    "For reference, 9 letters were sent", "the second source of income", "reference number 12345",
    "within 14 days (2 weeks).", "Your son (12).", "a room of 9 m²", "See [1] and 14 days later",
    "the sources are 9", "He put 9️⃣ and a thumb", "x^9", "in (2024).", "a 2nd reference",
    "6.51 metres²", "40 feet² and 2 metres³", "the ninth reference you gave your agent",
    "3<sup>rd</sup>", "your references (nine of them)", "sources - 9 of them", "fontes d'eau",
)  # fmt: skip


def test_bracket_of_numbers_is_a_mark_in_any_script_and_disguise() -> None:
    assert {text: [m.numbers for m in find_marks(f"so {text} it is")] for text in MARKS} == {
        text: [numbers] for text, numbers in MARKS.items()
    }


def test_mark_that_names_no_reference_for_certain_is_malformed() -> None:
    assert {text: [not m.numbers for m in find_marks(text)] for text in MALFORMED} == {
        text: [True] for text in MALFORMED
    }


def test_everything_else_is_text() -> None:
    found = {text: read_marks(text) for text in (*TEXT, *EVERYDAY)}
    assert {t: r.marks for t, r in found.items() if r.marks and "[1]" not in t} == {}
    assert {t: r.unclear for t, r in found.items() if r.unclear} == {}
    assert {t: r.bare for t, r in found.items() if r.bare and t != "<sup>9</sup> is"} == {}


def test_number_with_a_letter_or_a_mark_of_doubt_is_unclear() -> None:
    for text in UNCLEAR:
        assert (read_marks(text).marks, read_marks(text).unclear) == ((), (text,)), text


def test_reference_named_outside_of_brackets_is_found_with_its_numbers() -> None:
    assert {
        text: tuple(n for _, numbers in read_marks(text).bare for n in numbers) for text in BARE
    } == BARE


def test_offsets_count_code_points_of_the_text_as_written() -> None:
    for text in ("😀 é [1] and 【2】", "<b>[1]</b> &lt;", "**[\u200b1]**", "&#91;1&#93;, \\[2\\]"):
        for mark in find_marks(text):
            assert text[mark.start : mark.end] == mark.text
            assert mark.text.startswith(("[", "【", "&#91;"))


@given(st.text(alphabet="[]【】⟦{}<>& 0123456789,-–;andref.^x\\*`\n", max_size=120))
def test_marks_are_in_order_and_do_not_overlap(text: str) -> None:
    at = 0
    for mark in find_marks(text):
        assert at <= mark.start < mark.end <= len(text)
        assert text[mark.start : mark.end] == mark.text
        at = mark.end


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6), st.sampled_from([", ", ",", "; ", "&"])
)
def test_a_list_gives_each_number_once_in_its_order(numbers: list[int], between: str) -> None:
    (mark,) = find_marks(f"so [{between.join(map(str, numbers))}].")
    assert mark.numbers == tuple(dict.fromkeys(numbers))
