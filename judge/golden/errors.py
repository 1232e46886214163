"""What can go wrong with golden cases, besides a case that differs, which is no error.

JudgeError
├── CasesLocked     another process is changing the cases
├── CannotReplay    the case lacks a reply or a page that it needs now; none is invented
└── CannotRecord    a recording would not replay as it was
"""

from judge.errors import JudgeError


class CasesLocked(JudgeError):
    """Another process is changing the cases of the folder."""


class CannotReplay(JudgeError):
    """A case needs replies or pages that it does not have; the text names them."""


class CannotRecord(JudgeError):
    """What was recorded cannot become a case; the text says why and nothing was written."""
