"""Which paragraph of a page is its lead: one test for each rule."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.html_page import read_html

PAGES = Path(__file__).parents[3] / "fixtures" / "pages"
WANTED = "The landlord has to repair the boiler within a reasonable time of being told about it."
MORE = (
    "<p>" + "The next paragraph goes on for a while about letters, rent and advice. " * 6 + "</p>"
)
JUNK = "This sentence is not what the page is about and nobody would ever quote it."


def page(before="", after="", wanted=f"<p>{WANTED}</p>"):
    return f"<html><body>{before}<main><h1>Repairs</h1>{after}{wanted}{MORE}</main></body></html>"


def lead(body, **options):
    return read_html(body, **options).lead or ""


def snippet(html, **options):
    return lead(html.encode(), charset="utf-8", **options)


def test_lead_outside_the_body_of_a_guidance_page_is_found():
    body = (PAGES / "guidance.html").read_bytes()
    assert lead(body, charset="utf-8") == (
        "Your landlord must keep the boiler and the pipes in working order at all times."
    )


def test_teaser_above_the_byline_is_skipped():
    found = lead((PAGES / "article.html").read_bytes())
    assert found.startswith("The first week in a shared flat is easy")
    assert found.endswith("longer.")


@pytest.mark.parametrize(
    "name",
    [
        "<span>By Jo Example</span>",
        "<span>Written by a friend</span>",
        "<p class=byline>Jo Example</p>",
        "<div class=post__author><span>Jo Example</span></div>",
    ],
)
def test_byline_is_recognised_by_words_or_markup(name):
    teaser = f"<main><h1>Repairs</h1><p>{JUNK}</p><hr>{{}}<hr>"
    text = f"<div><p>{WANTED}</p>{MORE * 2}</div></main>"
    assert snippet(teaser.format(name) + text) == WANTED
    assert snippet(teaser.format("<span>Rent</span>") + text) == JUNK


@pytest.mark.parametrize(
    "junk",
    [
        "<div class='cookie-banner'><p>{}</p></div>",
        "<div id=onetrust-consent><p>{}</p></div>",
        "<div class=breadcrumbs><p>{}</p></div>",
        "<a class=skip-link href=#c>{}</a>",
        "<nav><p>{}</p></nav>",
        "<footer><p>{}</p></footer>",
        "<aside><p>{}</p></aside>",
        "<header><p>{}</p></header>",
        "<div class='related-links'><p>{}</p></div>",
        "<div class='post__author'><p>{}</p></div>",
        "<figure><img><figcaption>{}</figcaption></figure>",
        "<p><a href=/x>{}</a></p>",
        "<pre>{}</pre>",
        "<h2>{}</h2>",
        "<ul><li>{}</li></ul>",
        "<form><p>{}</p></form>",
    ],
)
def test_elements_around_the_content_are_not_the_lead(junk):
    junk = junk.format(JUNK.rstrip(".") if "<h2" in junk else JUNK)
    assert snippet(page(before=junk)) == WANTED
    assert snippet(page(after=junk)) == WANTED


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>{}</p>",
        "<p aria-hidden=true>{}</p>",
        "<p style='color: red; display : NONE'>{}</p>",
        "<div style='visibility:hidden'><p>{}</p></div>",
        "<p style='position:absolute; left: -9999px'>{}</p>",
        "<p style='clip: rect(0 0 0 0)'>{}</p>",
        "<p class='visually-hidden'>{}</p>",
        "<p><del>{}</del></p>",
        '<p style="font-size:0">{}</p>',
        '<p style="color: transparent">{}</p>',
        '<p style="color:rgba(0, 0, 0, 0)">{}</p>',
        '<p style="color:#12345600">{}</p>',
        '<p style="clip-path: inset(50%)">{}</p>',
        '<p style="transform: scale(0)">{}</p>',
        '<p style="color: #FFF; background-color: white">{}</p>',
        '<p style="background:#fafafa;color:#fafafa">{}</p>',
        '<p style="color: #ffffff">{}</p>',
        '<p style="font-size: 1px">{}</p>',
        '<p style="font: 0/0 a">{}</p>',
        '<p style="-webkit-text-fill-color: transparent">{}</p>',
        '<p style="clip-path: inset(0 100% 0 0)">{}</p>',
        '<p style="clip-path: polygon(0px 0px, 0px 0px)">{}</p>',
        '<p style="clip-path: ellipse(0 0)">{}</p>',
        '<p style="color: rgb(255 255 255)">{}</p>',
        '<p style="color: #fefefe">{}</p>',
        '<p style="position: absolute; right: -9999px">{}</p>',
        '<p style="transform: translateX(-9999px)">{}</p>',
        '<p style="width: 1px; height: 1px; overflow: hidden">{}</p>',
        '<p style="display:/* so */none!important">{}</p>',
        '<p style="transform: translateX(-100vw)">{}</p>',
        '<p style="transform: rotate(9deg) scaleY(0)">{}</p>',
        '<p style="scale: 0; zoom: 1">{}</p>',
        '<p style="zoom: 0.01">{}</p>',
        '<p style="filter: opacity(0)">{}</p>',
        '<p style="inset: -9999px auto auto -9999px">{}</p>',
        '<p style="text-indent: 100%; overflow: hidden">{}</p>',
        '<p style="font: normal 0px / 1 serif">{}</p>',
        '<p style="font-size: .01em">{}</p>',
        '<p style="color: rgba(255, 255, 255, 1)">{}</p>',
        '<p style="color: hsl(0, 0%, 100%)">{}</p>',
        "<font color=white><p>{}</p></font>",
        "<div popover><p>{}</p></div>",
        "<p class=element-invisible>{}</p>",
        "<noembed>{}</noembed>",
        "<p class='hidden print:block'>{}</p>",
        "<p inert>{}</p>",
        "<p class='lead d-none'>{}</p>",
        "<p class=print-only>{}</p>",
        "<div class=hidden><p>{}</p></div>",
        "<noscript><p>{}</p></noscript>",
        "<template><p>{}</p></template>",
        "<script>document.write('<p>{}</p>')</script>",
        "<style>{}</style>",
        "<!-- <p>{}</p> -->",
    ],
)
def test_hidden_text_is_never_the_lead(hidden):
    hidden = hidden.format(JUNK)
    assert snippet(page(after=hidden)) == WANTED
    assert snippet(f"<body>{hidden}</body>") == ""
    assert snippet(f"<body>{hidden}</body>", selector="p, body") == ""


FOUND = {
    "page with a hidden body is read": page().replace("<body>", "<body hidden>"),
    "list of ways to apply is not a byline": page(
        wanted=f"<div><p>{WANTED}</p></div><ul><li>By post</li><li>By phone</li></ul>"
    ),
    "text before the title is not the lead if text follows": (
        f"<body><p>{JUNK}</p><h1>Repairs</h1><p>{WANTED}</p>{MORE}</body>"
    ),
    "nearly empty main is not the content": (
        f"<body><main><p>{JUNK}</p></main><div><h1>A</h1><p>{WANTED}</p>{MORE}</div></body>"
    ),
    "sidebar around most of the page is read": (
        f"<body><div class=sidebar><p>{WANTED}</p>{MORE}</div></body>"
    ),
    "table is read if too little is left without it": (
        f"<body><table><tr><td>{WANTED}</td></tr></table></body>"
    ),
    "lead in a header with the title is found": (
        f"<body><header><h1>A</h1><p>{WANTED}</p></header>{MORE}</body>"
    ),
    "box beside the paragraphs is a paragraph": page(wanted=f"<div>{WANTED}</div>"),
    "box deeper than the paragraphs is not a paragraph": page(
        after=f"<div><div>{JUNK}</div></div>"
    ),
    "heading that is a whole sentence may be the lead": (
        f"<body><div><h3>{WANTED}</h3>{MORE}</div></body>"
    ),
    "page without paragraph elements is read by its boxes": (
        f"<body><div><div>{WANTED}</div><div>{JUNK * 6}</div></div></body>"
    ),
    "hidden content streamed by react is read": (
        f"<body><div hidden id='S:0'><p>{WANTED}</p></div></body>"
    ),
    "text that is hidden on some screens only is read": (
        f"<body><p class='d-none d-md-block'>{WANTED}</p><p class='hidden lg:flex'>{JUNK}</p>"
    ),
    "tab panel that is not open is read": (
        f"<body><div role=tabpanel hidden class=hidden><p>{WANTED}</p></div></body>"
    ),
    "style of another name or value than those that hide is read": (
        f"<body><p style='--display: none; backface-visibility: hidden; border-color: transparent;"
        f"min-width: 0; zoom: 1; scale: 0.9; text-indent: -2em; font: 1em/0 a'>{WANTED}</p>"
    ),
    "text in colours that can be told apart is read": (
        f"<body><p style='color: #fff; background: navy; font-size: 0.9em; max-width: 1px;"
        f"margin-right: -900px; margin-left: -400px; clip-path: inset(10% 20%); font: 10px/1 a;"
        f"transform: translateY(-20px)'>{WANTED}</p>"
    ),
    "text filled with its background is read": (
        f"<body><p style='color: transparent; background-clip: text'>{WANTED}</p>"
    ),
    "hidden until found content is read": (
        f"<body><div hidden=until-found><p>{WANTED}</p></div></body>"
    ),
    "clause of an act that a list follows is the lead": (
        f"<body><h1>A</h1><p>{WANTED[:-1]}\u2014</p><p>(a) the roof of the house, and</p>"
    ),
    "notice above a text that is short but longer is not the lead": (
        f"<body><h1>A</h1><div class=notification><p>{JUNK}</p></div><p>{WANTED}</p><p>{WANTED}</p>"
    ),
    "page with much text before a hidden element is read": (
        f"<body><p>{WANTED}</p>{MORE * 40}<div hidden></div>{MORE}</body>"
    ),
}


@pytest.mark.parametrize("rule", FOUND)
def test_lead_is_found_by_each_rule(rule):
    assert snippet(FOUND[rule]).replace("\u2014", ".") == WANTED


def test_hidden_words_inside_a_paragraph_are_left_out():
    inner = WANTED.replace("boiler", "<span hidden>old </span><b>boiler</b>").replace(
        "told", "told<span class='sr-only'> (opens in a new tab)</span>"
    )
    assert snippet(page(wanted=f"<p>{inner}</p>")) == WANTED


@pytest.mark.parametrize(
    "sentence",
    [
        "We use cookies to make this site work as well as it possibly can.",
        "Please enable JavaScript in your settings to see all of this page.",
        "Your browser is out of date and may not show everything on this page.",
        "An official website of the government of a country far away from here.",
        "By clicking the button below you accept our terms, all of them.",
        "By staying on this page, you agree to all that we have written elsewhere.",
        "By Jo Example who writes about homes. Read more of this author.",
        "Published on the third of March and last read on the fourth. Thanks.",
        "Medically reviewed by somebody on the third of March, and written by others.",
        "Welcome to our newsletter! Every week we tell you the best of our kitchens.",
        "{{ page.description }} is shown here once this page has been filled in.",
        "This page is also available in Polish and Urdu, and in large print.",
        "This guide is for general information only and is not legal advice for you.",
        "Short words only here.",
        "We are a charity. Please donate today to help us keep this advice free.",
        "Our phone lines are closed on Monday. You can still use our advice here.",
        "Our chat is open from 9am to 5pm, from Monday to Friday, on most days.",
        "Listen to this page using ReadSpeaker webReader, in a new window if you like.",
        "Read this page in Polish, Urdu, Welsh or British Sign Language.",
        "To leave this site quickly, press the Escape key three times, or this button.",
        "If somebody might see what you read, find out how to cover your tracks online.",
        "This article is for informational purposes only, so ask a lawyer about yours.",
        "The Act is up to date with all changes known to be in force on or before today.",
        "We acknowledge the Traditional Owners of the lands on which we live and work.",
        "Many of the products featured here are from partners who pay us for clicks.",
        "Print this page, or download it as a PDF file of a few pages.",
        "You can translate this page using the language menu at the top.",
        "This is a new page. Your feedback will help us to make it better for all.",
        "No sentence ends in here though there are quite a few words in it",
    ],
)
def test_boilerplate_sentence_is_not_the_lead(sentence):
    assert snippet(page(after=f"<p>{sentence}</p>")) == WANTED


@pytest.mark.parametrize(
    "opening",
    [
        "By law,",
        "Share your view:",
        "If you agree to it:",
        "When you sign up to a service,",
        "To help us make a decision,",
        "If you want to leave,",
        "For the purposes of this page,",
        "This page explains the law:",
    ],
)
def test_sentence_that_resembles_a_byline_or_credit_is_the_lead(opening):
    text = f"{opening} {WANTED}"
    assert snippet(page(wanted=f"<p>{text}</p>")) == text


def test_footnotes_and_deleted_words_are_left_out():
    inner = WANTED.replace("boiler", "<s>stove</s><ins>boiler</ins>").replace(
        "it.", "it.<sup id=fnref:1><a href=#fn:1>[footnote 1]</a></sup>"
    )
    assert snippet(page(wanted=f"<p>{inner}</p>")) == WANTED
    assert snippet(page(wanted="<p>Rooms of 10 m<sup>2</sup> or more have to be heated.</p>")) == (
        "Rooms of 10 m2 or more have to be heated."
    )


def test_two_line_breaks_end_a_paragraph_and_one_does_not():
    half, rest = WANTED[:30], WANTED[30:]
    html = f"<body><div>{half}<br>{rest}<br> <br>{JUNK}</div></body>"
    assert snippet(html) == " ".join(f"{half} {rest}".split())


def test_first_paragraph_of_the_selected_elements_is_the_lead():
    html = page(after=f"<div class=x>Short words.</div><div class=x><p>{JUNK}</p></div>")
    assert snippet(html, selector=".x") == JUNK


@pytest.mark.parametrize("selector", ["", " ", ".nowhere", "p[", ":nope", ",", "p\ud800", "\0"])
def test_invalid_selector_or_one_without_a_match_is_ignored(selector):
    assert snippet(page(), selector=selector) == WANTED


def test_white_space_is_folded_and_invisible_characters_are_removed():
    dirty = WANTED.replace(" ", "\u00a0\u2003\n", 1).replace("boiler", "boi\u200bl\u00ader\ufe0f")
    dirty = dirty.replace("told", "\u202etold\u2066\U000e0041").replace("about", "\x07about\x9b")
    assert snippet(page(wanted=f"<p>{dirty}</p>")) == WANTED


@given(st.binary(max_size=400), st.text(max_size=10), st.text(max_size=10))
def test_any_bytes_and_any_selector_are_read_without_an_error(body, charset, selector):
    found = lead(body, charset=charset, selector=selector)
    assert "\n" not in found


MARKUP = st.lists(
    st.sampled_from(
        "<p> </p> <div> </div> <a> </a> <b> </b> <br> <h1> </h1> <table> <td> <main> <header> "
        "<svg> </svg> <script> </script> <!-- --> <?x> <ul> <li> words. &amp; It is so. and "
        "more".split(" ")
    ),
    max_size=120,
)


@given(MARKUP, st.integers(1, 12))
def test_lead_has_only_words_of_the_page_within_the_limit(parts, max_words):
    html = " ".join(parts)
    words = snippet(html, max_words=max_words).removesuffix("...").split()
    text = re.sub(r"<[^>]*>", " ", html).replace("&amp;", "&").split()
    assert len(words) <= max_words
    assert set(words) <= {*text, *(word.rstrip(".") for word in text)}
