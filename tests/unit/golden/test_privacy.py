"""Keys are scrubbed from a case, and personal details are reported."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.golden.recording import find_personal_details, scrubber

FAKE_GOOGLE_KEY = "AIza" + "Sy0" * 12
FAKE_TOKEN = "eyJhbGciOiJub25l.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "text",
    [
        FAKE_GOOGLE_KEY,
        "AQ." + "Ab8_-" * 8,
        "sk-" + "proj-" + "a1b2c3d4" * 3,
        "ghp_" + "a" * 36,
        "xoxb-" + "1234567890-abc",
        "AKIA" + "ABCDEFGH12345678",
        FAKE_TOKEN,
        "my-own-secret",
    ],
)
def test_key_becomes_x_of_the_same_length(text: str) -> None:
    scrub = scrubber(["my-own-secret", "short"])
    assert scrub(f"It is {text}, short.") == f"It is {'x' * len(text)}, short."


def test_only_the_secret_of_a_bearer_token_or_url_is_scrubbed() -> None:
    scrub = scrubber([])
    assert scrub("Authorization: Bearer abcdefghijklmnop") == f"Authorization: Bearer {'x' * 16}"
    assert scrub("redis://user:secret@host/0") == f"redis://{'x' * 11}@host/0"
    assert scrub("https://a.example/b:c@d") == "https://a.example/b:c@d"


@settings(deadline=None)
@given(st.text(), st.lists(st.text(min_size=8), max_size=3))
def test_scrubbing_keeps_the_length_and_removes_every_secret(text: str, secrets: list[str]) -> None:
    hidden = "\n".join([text, *secrets])
    clean = scrubber(secrets)(hidden)
    assert len(clean) == len(hidden)
    assert all(secret not in clean or set(secret) == {"x"} for secret in secrets)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("write to jo.bloggs+x@mail.example.org now", "e-mail address"),
        ("call 07700 900123 tonight", "phone number"),
        ("call +44 (0) 20 7946 0958 now", "phone number"),
        ("in SW1A 1AA there", "postcode"),
        ("paid with 4000 0000 0000 0002 there", "card or account number"),
        ("sort code 12-34-56 there", "card or account number"),
        ("number QQ 12 34 56 C".replace("QQ", "AB"), "national insurance number"),
        ("born 01/02/1990 there", "date of birth"),
        ("lives at 12b Long Acre Road now", "street"),
        ("then Mr Pike came", "name"),
        ("my neighbour Rowan shouts", "name"),
        ("Rowan said no", "name"),
    ],
)
def test_personal_detail_is_found_with_its_field(words: str, kind: str) -> None:
    document = {"input": {"context": words, "query": "Why?"}, "replies": []}
    found = find_personal_details(document)
    assert kind in {finding.kind for finding in found}
    assert {finding.field for finding in found} == {"input.context"}


@pytest.mark.parametrize(
    "words",
    [
        "My landlord in England waited until Monday. He said that Christmas matters.",
        "It cost 150 pounds in 2024, after 3 weeks and 10 days.",
        "I'm cold. The boiler broke! Am I wrong? We wrote to Citizens Advice.",
        "He works in HR and on TV.",
    ],
)
def test_ordinary_words_are_not_personal_details(words: str) -> None:
    assert find_personal_details({"input": {"context": words}, "replies": []}) == []


def test_each_detail_is_reported_once_including_those_in_replies() -> None:
    document = {
        "input": {"context": "my friend Rowan and Rowan", "query": "Is Rowan right?"},
        "replies": [
            {"text": 'You and Rowan and Delyth, say the Coach and "name": "Coach"'},
            {"blocked": "SAFETY"},
        ],
    }
    found = [(finding.field, finding.words) for finding in find_personal_details(document)]
    assert found == [("input.context", "Rowan"), ("replies.0", "Delyth")]
