"""Results for build servers, in JUnit's XML format."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from judge.golden.difference_text import failure_lines
from judge.golden.samples import CaseScore, ScoredCase

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def as_junit(scores: Sequence[CaseScore], judged: Sequence[ScoredCase]) -> bytes:
    """One test case for each golden case; an unscored case is an error, not a failure."""
    states = [score.state for score in scores]
    suite = ET.Element(
        "testsuite",
        name="judge golden",
        tests=str(len(scores)),
        failures=str(states.count("failed")),
        errors=str(states.count("unscored")),
    )
    for score in scores:
        case = ET.SubElement(suite, "testcase", classname="golden", name=_safe(score.name))
        if score.state == "passed":
            continue
        kind = "failure" if score.state == "failed" else "error"
        result = ET.SubElement(case, kind, message=f"{score.passes} of {len(score.samples)} passed")
        own = (scored for scored in judged if scored.sample.case == score.name)
        result.text = _safe("\n".join(line for scored in own for line in failure_lines(scored)))
    ET.indent(suite)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _safe(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
