"""Embedders whose vectors count the subjects or words of a text."""

from collections.abc import Sequence

from judge.errors import EmbedderUnavailable

SUBJECTS = (
    ("boat", "ship", "vessel", "ferry", "dhow", "xebec"),
    ("bread", "loaf", "bakery", "flour"),
    ("robot", "sensor", "node", "navigation"),
)


class FakeEmbedder:
    """Texts about the same subject are similar, whatever their words."""

    min_similarity = 0.5

    def __init__(self, name: str = "fake-4") -> None:
        self.name = name
        self.is_down = False
        self.calls: list[tuple[str, int]] = []

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        self._note("passages", len(texts))
        return [subjects_of(text) for text in texts]

    async def embed_query(self, text: str) -> list[float]:
        self._note("query", 1)
        return subjects_of(text)

    def _note(self, purpose: str, count: int) -> None:
        if self.is_down:
            raise EmbedderUnavailable("Fake made no vectors (it is down).")
        self.calls.append((purpose, count))


def subjects_of(text: str) -> list[float]:
    """A 1 for each subject that *text* mentions, or a last 1 if it mentions none."""
    lower = text.lower()
    touched = [float(any(word in lower for word in subject)) for subject in SUBJECTS]
    return [*touched, 0.0 if any(touched) else 1.0]
