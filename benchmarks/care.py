"""How often words alone see that a dispute calls for care, and how often they see it in vain.

    python -m benchmarks.care [--missed]

`care_sentences.txt` says who wrote the sentences and when. A hash of each sentence puts it in one
of two halves: the words of `judge/vocabulary/safety.toml` are fitted on one, the other is reported.
`care_sentences_unseen.txt` was written later, by somebody who had not read them: reported whole.
`--missed` prints the mistakes in the half for fitting, and only those.
"""

import hashlib
import sys
from collections import Counter
from pathlib import Path

from judge.bootstrap.sources import compile_knowledge
from judge.judging.care import find_safety
from judge.library.dispute import read_dispute

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = ROOT / "benchmarks" / "care_sentences.txt"
UNSEEN = ROOT / "benchmarks" / "care_sentences_unseen.txt"
NONE = "none"


def is_held_out(sentence: str) -> bool:
    """Whether *sentence* belongs to the half that is reported."""
    return hashlib.sha256(sentence.encode()).digest()[0] % 2 == 0


def read_sentences(path: Path = SENTENCES) -> list[tuple[str, str]]:
    """Each sentence, after the name of the rule that should see it."""
    rule, found = "", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rule = line[3:].partition(",")[0]
        elif line and not line.startswith("#"):
            found.append((rule, line))
    return found


def measure(sentences: list[tuple[str, str]]) -> dict[str, float]:
    """Recall (of any rule, and of the right one) and the share of false alarms."""
    care = [(rule, rules_of(text)) for rule, text in sentences if rule != NONE]
    calm = [rules_of(text) for rule, text in sentences if rule == NONE]
    return {
        "recall": sum(bool(found) for _, found in care) / len(care),
        "right rule": sum(rule in found for rule, found in care) / len(care),
        "false alarms": sum(map(bool, calm)) / len(calm),
    }


RULES = compile_knowledge((ROOT / "config" / "sources.toml").read_text(encoding="utf-8")).safety


def rules_of(text: str) -> set[str]:
    """The rules that *text* matches."""
    return {reason.rule for reason in find_safety(RULES, read_dispute(text, "")).reasons}


def main() -> None:
    sentences = read_sentences()
    fitted = [pair for pair in sentences if not is_held_out(pair[1])]
    held_out = [pair for pair in sentences if is_held_out(pair[1])]
    parts = (("for fitting", fitted), ("held out", held_out), ("unseen", read_sentences(UNSEEN)))
    for name, part in parts:
        figures = ", ".join(f"{key} {value:.3f}" for key, value in measure(part).items())
        print(f"{name} ({len(part)} sentences): {figures}")
    seen = Counter(rule for rule, text in held_out if rule != NONE and rules_of(text))
    asked = Counter(rule for rule, _ in held_out if rule != NONE)
    print("held out, by rule:", ", ".join(f"{r} {seen[r]}/{n}" for r, n in asked.items()))
    if "--missed" in sys.argv:
        for rule, text in fitted:
            if bool(found := rules_of(text)) != (rule != NONE):
                print(f"{rule}: {text} {sorted(found) or ''}")


if __name__ == "__main__":
    main()
