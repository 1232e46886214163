"""Of two thousand sentences that cite nothing, none is a hard defect, hardly one asked again."""

import json

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.check import check_reply
from judge.types.replies import ModelReply
from judge.types.requests import JudgeRequest
from tests.unit.judging.verdicts.benign import benign_sentences
from tests.unit.judging.verdicts.replies import REFERENCES, good_reply, personas

DISPUTE = JudgeRequest(
    context="He sent me https://www.gov.uk/evicting-tenants and https://www.gov.uk/guide?page=9. "
    "His number is 01632 960 123 and his address repairs@example.org.",
    query="Am I wrong?",
)


def rules_broken_by(sentence: str, nth: int) -> list[str]:
    """What *sentence* breaks in a summary that cites, a rationale, a paraphrase or a key point."""
    said = good_reply()["summary"]
    document = (
        good_reply(summary=f"{said} {sentence}"),
        good_reply(personas=personas(rationale=sentence)),
        good_reply(paraphrase=sentence),
        good_reply(personas=personas(key_points=["Write", sentence, "Wait"])),
    )[nth % 4]
    prompt = render_prompt(DISPUTE, REFERENCES[:2], DEFAULT_PERSONAS)
    checked = check_reply(ModelReply(json.dumps(document), "m"), prompt)
    assert checked.reply is not None, sentence
    return [defect.rule for defect in checked.asked_again]


def test_of_two_thousand_benign_sentences_none_is_hard_and_one_in_a_hundred_asked_again() -> None:
    sentences = benign_sentences()
    assert len(sentences) == 2000
    broken = {said: rules_broken_by(said, nth) for nth, said in enumerate(sentences)}
    asked = {said: rules for said, rules in broken.items() if rules}
    assert len(asked) <= 20, asked
