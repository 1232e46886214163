"""The support of a claim, as the scorer of the labelled claims calls it."""

from judge.citations.support import support as measure


def support(claim: str, source: list[str]) -> float:
    """How far *source* carries *claim*; 0 where nothing can be said."""
    return measure(claim, source).score or 0.0
