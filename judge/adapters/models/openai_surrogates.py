"""Characters that a server escapes as two halves and sends in two events."""

import re
from dataclasses import dataclass
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<first>d[89ab]..)|(?P<second>d[c-f]..))|\\.",
    re.IGNORECASE,
)
"""An escape in JSON: a whole character, or a half that stands alone."""


@dataclass(slots=True)
class HalfCharacters:
    """Joins the halves; servers that count in UTF-16 cut between them."""

    _first: str = ""

    def join(self, event: str) -> str:
        """*event* with a half that came before put in front of its other half.

        A first half is kept for a later event; a second half alone becomes U+FFFD.
        """
        return _ESCAPE.sub(self._joined, event)

    def _joined(self, escape: re.Match[str]) -> str:
        if escape["first"]:
            self._first = escape[0]
            return ""
        if escape["second"]:
            first, self._first = self._first, ""
            return first + escape[0] if first else r"\ufffd"
        return escape[0]
