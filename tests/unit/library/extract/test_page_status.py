"""A page's notes on withdrawal and nations, distinguished from prose about them."""

import pytest

from judge.library.extract.html_page import read_html
from judge.library.extract.page_status import nations_of
from tests.fakes.country import UK

TEXT = "Your landlord has to repair the boiler within a reasonable time of being told about it."
MORE = f"<p>{TEXT}</p>" * 5


def read(before="", title="Repairs", head=""):
    html = f"<head>{head}</head><body>{before}<main><h1>{title}</h1>{{}}{MORE}</main></body>"
    return lambda after="": read_html(html.format(after).encode(), regions=UK.region_names)


GOVUK = "<section class=gem-c-notice><h2>This guidance was withdrawn on <time>3 May</time></h2>{}"


@pytest.mark.parametrize(
    "note",
    [
        GOVUK.format("<p>It is out of date.</p></section>"),
        "<p class=gem-c-lead-paragraph>How repairs are done and paid.</p><dl><dt>From:<dd>A board"
        "<dt>Published<dd>1 May 2019</dl>" + GOVUK.format("</section>"),
        "<div><p>This page has been archived and is no longer updated by anybody here.</p></div>",
        "<div>Important: this code of practice has been superseded by a new one.</div>",
        "<section><h2>This Welsh language scheme was withdrawn on 1 May 2020</h2></section>",
        "<span>Withdrawn</span>",
        "<div>[Withdrawn]</div>",
        "<p>Archived: kept so that old decisions can be understood.</p>",
        "<p>You\u2019re viewing an archived page.</p>",
        "<p>The guidance on this page has been withdrawn.</p>",
        "<p>This guidance ceased to apply on 1 May 2020.</p>",
        "<p>This form is no longer available.</p>",
        "<div>Superseded by: the model tenancy</div>",
        "<div>Status: withdrawn</div>",
        "<div>Repealed</div>",
        "<div><p>Please note that this guidance is out of date.</p></div>",
        "<div><p>This page is no longer active.</p></div>",
        "<div><p>This guidance has been updated and replaced by guideline 123.</p></div>",
        "<div><p>This page was last updated in 2019 and is no longer being maintained.</p></div>",
        "<div><p>We are no longer updating this page.</p></div>",
        "<div><p>You are viewing an old version of this page. See the current one.</p></div>",
        "<div><p>This is historical material. Some of its links may not work.</p></div>",
        "<div><p>This factsheet has been discontinued.</p></div>",
        "<div><p>This standard ceased to have effect on 1 October 2023.</p></div>",
    ],
)
def test_page_with_a_withdrawal_note_is_withdrawn_without_text(note):
    found = read()(note)
    assert found.withdrawn
    assert (found.lead, found.passages) == (None, ())


@pytest.mark.parametrize(
    "head",
    [
        "<title>[Withdrawn] Repairs - GOV.UK</title>",
        "<title>[ARCHIVED CONTENT] Repairs</title>",
        "<meta name=govuk:withdrawn content=w>",
    ],
)
def test_page_is_withdrawn_if_its_head_says_so(head):
    assert read(head=head)().withdrawn


@pytest.mark.parametrize(
    "text",
    [
        "<p>The offer was withdrawn on 3 May because nobody had answered it in time.</p>",
        "<p>If this guidance was withdrawn, you would read of it at the top of the page.</p>",
        f"<p>{TEXT}</p><p>This guidance was withdrawn in 2019, and here is what came then.</p>",
        f"<p>{TEXT}</p>" * 2 + "<h2>This guidance was withdrawn on 3 May 2020</h2>",
        "<p>This page explains when a claim has been withdrawn and what that does to costs.</p>",
        "<p>This guidance is updated when the law is, and is never withdrawn without notice.</p>",
        f"<p>This notice is no longer valid once the fixed term has ended.</p><p>{TEXT}</p>",
        "<h2>This page explains what happens when an offer was withdrawn</h2>",
        "<p>This service is no longer available by phone, so apply online or by post.</p>",
        "<p>This form is no longer available as a paper copy in most of our branches.</p>",
        "<p>This document is no longer in force in the north, where another one holds.</p>",
        "<p>This policy has expired if you stopped paying, and the insurer need not pay.</p>",
        "<p>This guide has been updated to say what the new law changes for tenants.</p>",
        "<p>An old version of this page said that the limit is six weeks; it is eight.</p>",
        "<p>This guidance is under review since the law has changed, and may be replaced.</p>",
    ],
)
@pytest.mark.parametrize("title", ["Withdrawn claims", "When guidance is archived"])
def test_article_about_withdrawal_is_not_withdrawn(text, title):
    found = read(title=title)(text)
    assert not found.withdrawn
    assert found.lead


LABELS = "".join(f"<span>{n}</span><hr>" for n in range(6))


@pytest.mark.parametrize("tag", ["Withdrawn", "Archived guidance"])
def test_withdrawal_tag_counts_within_three_blocks_of_the_title(tag):
    tag = f"<span>{tag}</span><hr>"
    assert read(before=LABELS)(tag).withdrawn
    assert read(before=f"{LABELS}{tag}")().withdrawn
    assert read(before=f"{LABELS}{tag}{LABELS[: len(LABELS) // 3]}")().withdrawn
    assert not read(before=f"{tag}{LABELS}")().withdrawn
    assert not read()(f"{LABELS}{tag}").withdrawn


@pytest.mark.parametrize(
    ("line", "nations"),
    [
        ("Applies to England", ("england",)),
        ("Applies to: England and Wales (see guidance for Scotland)", ("england", "wales")),
        ("This applies in Scotland.", ("scotland",)),
        ("This guidance applies to Northern Ireland only.", ("northern-ireland",)),
        ("This advice applies to England. See advice for Wales", ("england",)),
        ("This page is for people living in Wales", ("wales",)),
        ("This guide explains the law in England and Wales.", ("england", "wales")),
        ("Applies across the UK", ("england", "scotland", "wales", "northern-ireland")),
        ("Applies to the UK", ("england", "scotland", "wales", "northern-ireland")),
        ("Applies to England\u2013Wales", ("england", "wales")),
        ("This guidance applies to England and not Scotland", ("england",)),
        ("This guidance does not apply in Scotland.", ("england", "wales", "northern-ireland")),
        ("The law in this guide applies in England and Wales.", ("england", "wales")),
        ("This information is correct for England and Wales.", ("england", "wales")),
        ("This page is about housing law in Scotland.", ("scotland",)),
        ("Relevant to: Scotland", ("scotland",)),
        ("This guide sets out the law in Scotland.", ("scotland",)),
        ("Coverage: England, Scotland", ("england", "scotland")),
        ("The law on this page applies in Scotland.", ("scotland",)),
        ("This guide is relevant to tenants in England", ("england",)),
        ("This service is available in England and Wales.", ("england", "wales")),
        ("Different rules apply in Scotland and Northern Ireland.", ()),
        ("The scheme also applies in Wales.", ()),
        ("You can apply in Scotland if you live there.", ()),
        ("This section does not apply in Scotland.", ()),
        ("This section applies in Scotland.", ()),
        ("Applies to England's largest councils", ()),
        ("England has rules of its own.", ()),
    ],
)
def test_nations_are_read_from_a_line(line, nations):
    assert nations_of(line, UK.region_names) == nations


@pytest.mark.parametrize(
    "box",
    [
        "<section class=gem-c-devolved-nations><h2>Applies to England and Wales</h2></section>",
        (
            "<div class=app-c-important-metadata><dl><dt>Applies to:</dt><dd>England and Wales "
            "(see guidance for <a href=/x>Scotland</a>)</dd></dl></div>"
        ),
        "<p>This advice applies to England and Wales.</p>",
        "<p>This applies to:</p><ul><li>England</li><li>Wales</li></ul>",
        "<dl><dt>Applies to</dt><dd>England,</dd><dd>Wales</dd></dl>",
    ],
)
def test_nations_are_read_from_a_box_near_the_title(box):
    assert read()(box).nations == ("england", "wales")
    assert read(before=box)().nations == ("england", "wales")


@pytest.mark.parametrize(
    ("note", "is_skipped"),
    [
        ("This advice applies to England. See advice for <a>Scotland</a> or <a>Wales</a>", True),
        ("This factsheet applies to people living in England and Wales.", True),
        ("This information applies to England, Wales and Scotland only.", True),
        ("This guidance applies to landlords who let a home, or a part of it.", False),
        ("This page is for tenants whose landlord does not mend what is broken.", False),
        (f"This guide is for England. {TEXT} So says the law, and so say all the courts.", False),
    ],
)
def test_note_on_nations_is_not_the_lead(note, is_skipped):
    assert (read()(f"<p>{note}</p>").lead == TEXT) == is_skipped


def test_line_far_down_does_not_name_the_nations_of_the_page():
    assert read()(f"{MORE}<h2>Scotland</h2><p>This applies in Scotland.</p>").nations == ()
