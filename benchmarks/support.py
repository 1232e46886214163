"""The support score of a claim, for the scorer of the labelled claims."""

from judge.citations.support import support as measure


def support(claim: str, source: list[str]) -> float:
    """How far *source* supports *claim*; 0 if it cannot be measured."""
    return measure(claim, source).score or 0.0
