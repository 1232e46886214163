import pytest

from judge.text.english import stems
from judge.text.index_tokens import searchable

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
precise/precisely promise/promising revise/revision supervise/supervision install/installation
"""
APART = """
prise/prize tour/tor filling/filing four/for timbre/timber prised/prized hour/hor advice/advise
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
