"""Does a sentence make a claim, so that it needs a citation?

A claim states a fact about the world. Told by its form, without a parser, not one are: a heading, a
question, a greeting, advice ("Write to them."), what somebody feels or thinks ("You are right to be
upset."), a line that leads in to a list, and what has too few content words to be held against a
source.
"""

from itertools import islice

from judge.citations.support import MIN_CONTENT_WORDS
from judge.text.english import content_stems, words
from judge.text.source_sentences import is_heading

_GREETINGS = frozenset(
    "hello hi hey dear greetings thanks thank welcome congratulations regards cheers sorry "
    "apologies".split()
)
_ADVICE = frozenset(
    "ask write talk speak tell say explain describe call phone email send contact try consider "
    "remember make take keep check read look see find get go start begin offer suggest propose "
    "agree let use note avoid stop think give be do don't never please show listen wait bring "
    "collect gather put set pick choose decide stay report complain apply seek invite".split()
)
"""What advice begins with: the plain form of a verb."""

_PERSONS = frozenset(
    "i we you i'm we're you're i've we've you've i'd we'd you'd i'll we'll".split()
)
_FEELINGS = frozenset(
    "feel feels feeling feelings felt think thought believe know knew hope wish want understand "
    "hear guess suppose imagine sense mean worry worried sorry glad happy sad upset angry hurt "
    "afraid scared anxious tired exhausted frustrated stressed overwhelmed annoyed disappointed "
    "lonely alone confused torn unsure sure able right wrong fair unfair reasonable unreasonable "
    "found find asked mentioned described".split()
)
_PERSON_WITHIN, _FEELING_WITHIN = 6, 10
"""Words from the beginning in which both must stand: later ones belong to another clause."""

_OPENING = 400
"""Characters that hold the first words of any sentence."""


def makes_claim(sentence: str) -> bool:
    """Whether *sentence*, its citation marks taken out, states a fact about the world."""
    text = sentence.rstrip("\"'”’)]*_ ")
    if is_heading(sentence) or text.endswith(("?", ":", "？")):
        return False
    opening = list(islice(words(sentence[:_OPENING]), _FEELING_WITHIN))
    if not opening or opening[0] in _GREETINGS | _ADVICE or _tells_of_mind(opening):
        return False
    return len(set(content_stems(sentence))) >= MIN_CONTENT_WORDS


def _tells_of_mind(opening: list[str]) -> bool:
    return not (_PERSONS.isdisjoint(opening[:_PERSON_WITHIN]) or _FEELINGS.isdisjoint(opening))
