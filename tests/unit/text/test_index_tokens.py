"""The tokens by which a text is found."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import stems, strip_accents
from judge.text.index_tokens import identifier_parts, searchable

CHINESE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2)


@given(st.text("abc ÄÖé,.!\n'’_-0ñж"))
def test_spaced_text_only_loses_its_accents(text):
    assert searchable(text) == strip_accents(text)


@given(st.text(), CHINESE, st.text())
def test_every_pair_of_adjacent_characters_is_a_word(before, run, after):
    found = searchable(f"{before} {run} {after}").split()

    assert {"".join(pair) for pair in pairwise(run)} <= set(found)


def test_decomposed_characters_are_composed():
    assert searchable("가나다").split() == ["가나", "나다"]
    assert searchable("ガス").split() == searchable("カ\u3099ス").split() == ["ガス"]


@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("getUserId()", "get User Id"),
        ("parseHTMLPage", "parse HTML Page"),
        ("HTTPServer", "HTTP Server"),
        ("self._fooBar", "foo Bar"),
        ("ROS2", "ROS 2"),
        ("plain words, Capital Ones and x1", ""),
        ("__init__", ""),
        ("why?isThis", "is This"),
        ("an e-mail on well-being in the U.K., £1,200", "email wellbeing UK 1200"),
        ("state-of-the-art 2024-05-01 1,2 e.g", "eg"),
        ("an e\u2011mail of 10kg at 2pm on the 3rd", "email 10 kg 2 pm"),
        ("调用getUserId", "get User Id"),
        ("größeWert", "groeßeWert größe Wert"),
        ("Jörg Müller, naïve №5 ＵＳＢ２", "Joerg Mueller No 5 USB 2"),
        ("naïveBayes — fooBar", "naïve Bayes foo Bar"),
    ],
)
def test_names_written_as_one_word_give_their_parts(text, further):
    assert identifier_parts(text) == further


@given(st.lists(st.text(alphabet="abAB01é?_\ud800", max_size=12)))
def test_words_give_the_same_alone_and_among_others(words):
    alone = [part for word in words for part in identifier_parts(word).split()]

    assert identifier_parts(" ".join(words)) == " ".join(dict.fromkeys(alone))


MEET = """
colour/color honourable/honorable neighbourhood/neighborhood harbour/harbor favourite/favorite
centre/center theatres/theaters metre/meter centred/centered fibre/fiber organised/organized
organisation/organization optimising/optimizing recognised/recognized criticise/criticize
emphasise/emphasize summarised/summarized travelling/traveling cancelled/canceled
labelled/labeled counsellor/counselor catalogue/catalog dialogue/dialog licence/license
defence/defense programme/program analyse/analyze grey/gray fulfil/fulfill enrol/enroll
skilful/skillful judgement/judgment anaesthetic/anesthetic paediatric/pediatric foetus/fetus
manoeuvre/maneuver practise/practice jewellery/jewelry mould/mold plough/plow
Łódź/Lodz Ørsted/Orsted Straße/Strasse Æsir/Aesir Đorđe/Dorde Œuvre/oeuvre ısıtma/isitma
land\u00adlord/landlord care\u200btaker/caretaker sky\u2060light/skylight \ufeffhand/hand
knives/knife shelves/shelf wives/wife halves/half children/child women/woman policemen/policeman
feet/foot mice/mouse gynaecology/gynecology caesarean/cesarean manoeuvring/maneuvering kerb/curb
enquiry/inquiries annexe/annex dependants/dependent baptised/baptize
diarrhoea/diarrhea yoghurt/yogurt learnt/learned axe/ax
مُدَرِّسَة/مدرسة שָׁלוֹם/שלום ΟΔΟΣ/οδός
precise/precisely promise/promising revise/revision supervise/supervision install/installation
"""
APART = """
prise/prize tour/tor filling/filing four/for timbre/timber prised/prized hour/hor advice/advise
leaves/leaf lives/life specimen/speciman valves/valf omen/oman tired/tyre
flour/flor willing/wiling story/storey
"""


def stem(word):
    return stems([searchable(word).lower()])


@pytest.mark.parametrize("pair", MEET.split())
def test_two_spellings_of_a_word_meet(pair):
    first, second = pair.split("/")
    assert stem(first) == stem(second)


@pytest.mark.parametrize("pair", APART.split())
def test_two_words_stay_apart(pair):
    first, second = pair.split("/")
    assert stem(first) != stem(second)
