"""The nouns of a judgement, from the request to the result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StrictBool, StringConstraints

DEFAULT_DOMAIN = "default"
"""The name of "no domain": for it a page is offered only if it clearly fits."""

VerdictWord = Literal["Yes", "No", "Partially"]
QuoteStatus = Literal["verified", "none"]
Evidence = Literal["grounded", "unverified", "missing", "not_applicable", "none"]

Context = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10, max_length=8000)]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=5, max_length=1000)]


class JudgeRequest(BaseModel):
    """A dispute and the question about it; lengths are in code points after trimming."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: Context
    """What happened, 10 to 8000 characters after trimming."""
    query: Query
    """What you would like to know, 5 to 1000 characters after trimming."""
    domain: str | None = None
    """A name from `/api/domains`, or `default` for none; else it is detected."""
    scope: str | None = None
    """Where in the indexed documents to look for passages, such as `@collection:a`."""
    hear_other_side: StrictBool = False
    """Whether the same facts, told by the other side, are judged too."""


@dataclass(frozen=True, slots=True)
class HelpLine:
    """Somebody to turn to."""

    title: str
    """Who they are."""
    url: str
    """Their page."""
    phone: str = ""
    """Their number, or empty."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the person can do next: a page to read, which the answer cites."""

    title: str
    """The page's own title."""
    url: str
    """Its address."""


@dataclass(frozen=True, slots=True)
class DomainScore:
    """How well one domain fits, and the terms of the text that say so."""

    domain: str
    """Its name."""
    score: float
    """How well it fits; 3 decides alone."""
    matched: tuple[str, ...]
    """The terms found in the text."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The domain chosen (or `default`), the ranking behind it, best first, and the score needed.

    Nothing is needed where the request names its domain.
    """

    domain: str
    scores: tuple[DomainScore, ...]
    needed: float = 0.0


Media = Literal["html", "json"]
"""What is fetched: a page, or the reply of a publisher's API."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave us to ask "has it changed?" with."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page, or an API's reply: raw bytes, and what their HTTP header says of them."""

    url: str
    body: bytes
    charset: str = ""
    validators: Validators = Validators()
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class NotModified:
    """The server says that the page is still the one we know."""

    validators: Validators = Validators()


@dataclass(frozen=True, slots=True)
class Snippet:
    """The words of a page or passage that may be cited, and how old they are."""

    url: str
    title: str
    text: str
    fetched_at: datetime
    updated: date | None = None
    """The publisher's own date."""
    is_stale: bool = False
    kind: Literal["page", "passage"] = "page"


@dataclass(frozen=True, slots=True)
class CitablePassages:
    """The passages of a scope that may be cited, best first, and sentences for the reader."""

    snippets: tuple[Snippet, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A snippet with its number in the prompt; *text* is what the model was shown."""

    number: int
    """What citations refer to, from 1."""
    kind: Literal["page", "passage"]
    """An approved page, or a passage of the indexed documents."""
    url: str
    """Where it is from."""
    title: str
    """Its title."""
    text: str
    """The very words that the model was shown."""
    fetched_at: datetime
    """When they were fetched or changed, in UTC."""
    updated: date | None = None
    """The publisher's own date, null when there is none."""
    stale: bool = False
    """Whether the page could not be fetched anew."""
    cited: bool = False
    """Whether the answer cites it; false until there is one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given.

    `instructions` is the system text, `text` the user's turn; both are complete. `request`
    and `references` repeat what went in, for a model that quotes instead of writing.
    """

    instructions: str
    text: str
    request: JudgeRequest
    references: tuple[Reference, ...] = ()
    schema: Mapping[str, object] | None = None
    """The JSON schema of the reply, where that is no verdict."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model counted them."""

    input_tokens: int = 0
    """Read."""
    output_tokens: int = 0
    """Written."""
    thinking_tokens: int = 0
    """Spent on thinking."""

    @property
    def total(self) -> int:
        """All that is paid for."""
        return self.input_tokens + self.output_tokens + self.thinking_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.thinking_tokens + other.thinking_tokens,
        )


FinishReason = Literal["stop", "truncated", "empty", "recitation", "other"]
"""Why the model stopped. Only `stop` promises a whole text."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of a model: its text as sent, why it stopped, and what it cost."""

    text: str
    model: str
    finish: FinishReason = "stop"
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Defect:
    """One broken rule in a reply.

    `rule` is a stable name for metrics; `field` where it is (`summary`, `personas.1.rationale`);
    `value` what was found, shortened; `expected` the valid range in words. Only a hard defect
    may end in an error.
    """

    rule: str
    field: str
    value: str
    expected: str
    is_hard: bool

    def __str__(self) -> str:
        """For people: without the value, which a check rejected."""
        return f"{self.field} ({self.rule}): expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Persona:
    """One of the voices: its name and what it looks at."""

    name: str
    brief: str


@dataclass(frozen=True, slots=True)
class PersonaVerdict:
    """What one persona says; `verdict` is None only where no model judged."""

    name: str
    """The voice."""
    verdict: VerdictWord | None
    """Whether the person is being unreasonable, however they asked; null where no model judged."""
    rationale: str
    """Its reasons, with numbers for what they cite."""
    key_points: tuple[str, ...]
    """Three short pieces of advice."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A number in the reply's text; offsets count code points in `field`."""

    number: int
    """The reference's."""
    field: str
    """`summary` or `personas.1.rationale`."""
    start: int
    """Where its bracket begins, in code points."""
    end: int
    """Where its bracket ends."""
    quote: str | None
    """The sentence relied on that carries most of the citing one; null when none was named."""
    quote_status: QuoteStatus
    """`verified`: the reply named its sentence; `none`: it named none."""
    support: float | None
    """How far those sentences carry the citing one, 0 to 1; null under three content words."""
    contradicts: bool = False
    """Whether the citing sentence says the opposite of what it relies on."""


@dataclass(frozen=True, slots=True)
class CheckedField:
    """A part of a reply that is checked and shown by itself, and every rule that it breaks."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    citations: tuple[Citation, ...] = ()
    defects: tuple[Defect, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply that broke no hard rule: the paraphrase, each persona and the summary, checked."""

    fields: tuple[CheckedField, ...]
    has_references: bool
    """Whether there was anything to cite."""
    references_help: bool
    """Whether any of it bears on the dispute, as the reply says."""

    @property
    def paraphrase(self) -> str:
        """The first field."""
        return str(self.fields[0].value)

    @property
    def personas(self) -> tuple[PersonaVerdict, ...]:
        """Those in between."""
        return tuple(f.value for f in self.fields if isinstance(f.value, PersonaVerdict))

    @property
    def summary(self) -> str:
        """The last field."""
        return str(self.fields[-1].value)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Those of the summary, which is read first, then those of the personas."""
        return tuple(citation for one in self._as_read for citation in one.citations)

    @property
    def defects(self) -> tuple[Defect, ...]:
        """Every rule that it breaks, each place once."""
        return tuple(dict.fromkeys(defect for one in self._as_read for defect in one.defects))

    @property
    def evidence(self) -> Evidence:
        """What the verdict rests on."""
        if not self.has_references:
            return "none"
        if not self.references_help and not self.citations:
            return "not_applicable"
        if not self.fields[-1].citations:
            return "missing"
        is_verified = all(citation.quote_status == "verified" for citation in self.citations)
        return "grounded" if is_verified else "unverified"

    @property
    def _as_read(self) -> tuple[CheckedField, ...]:
        return (self.fields[-1], *self.fields[:-1])


@dataclass(frozen=True, slots=True)
class OtherVerdict:
    """What one persona says to the other side."""

    name: str
    """The voice."""
    verdict: VerdictWord
    """Whether the other side is being unreasonable."""
    rationale: str
    """Its reasons in a line, with numbers for what they cite of the same references."""


@dataclass(frozen=True, slots=True)
class OtherSide:
    """The same facts as the other side would tell them, and what they would be told."""

    retelling: str
    """Their story; empty where none could be told with the same facts."""
    personas: tuple[OtherVerdict, ...]
    """What each persona says of it, in the same order; empty where nobody was heard."""
    agrees: bool | None
    """False when a persona tells both sides that they are right, with "No" to each; null where
    nobody was heard."""
    note: str
    """Why nobody was heard, or empty."""

    @classmethod
    def unheard(cls, note: str, retelling: str = "") -> "OtherSide":
        """Nobody was heard, for the reason in *note*, though perhaps their story was told."""
        return cls(retelling, (), None, note)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The short form of a reference that the first frontends read."""

    url: str
    """Where it is from."""
    text: str
    """The reference's text."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Digests of what shaped the verdict besides the model."""

    prompt: str
    """A digest of the instructions."""
    sources: str
    """A digest of the sources file."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of wall time."""

    references: float
    """To find the domain and read its pages."""
    model: float
    """To ask the model and check its replies."""
    total: float
    """Both."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """The body of a 200 reply; field names are the interface."""

    id: str
    """The request's id."""
    paraphrase: str
    """The dispute, retold in about 30 words."""
    summary: str
    """The answer in about 120 words, with numbers in brackets for what it cites."""
    personas: tuple[PersonaVerdict, ...]
    """One to six, in the order of the sources file."""
    domain: str
    """What it is about; `default` when no domain was detected."""
    domain_scores: tuple[DomainScore, ...]
    """The ranking behind it, best first."""
    references: tuple[Reference, ...]
    """What could be cited, in the order of their numbers."""
    snippets: tuple[Excerpt, ...]
    """The references' addresses and texts alone, for older frontends."""
    citations: tuple[Citation, ...]
    """Each number in the texts, with its place and its quotation."""
    evidence: Evidence
    """`grounded`: every cited reference has a sentence named; `unverified`: some have none;
    `missing`: nothing is cited; `not_applicable`: no reference bears on it; `none`: there was none.
    """
    help: tuple[HelpLine, ...]
    """Somebody to turn to, where the dispute calls for care."""
    warnings: tuple[str, ...]
    """What to know before trusting the answer, a sentence each; a contradiction comes first."""
    other_side: OtherSide | None
    """What the other side would be told; null unless `hear_other_side` asked for it."""
    model: str
    """What answered."""
    degraded: bool
    """Whether something stood in for the usual model."""
    attempts: int
    """How often the model was asked: 1 or 2."""
    versions: Versions
    """What shaped the answer besides the model."""
    usage: Usage
    """Tokens of all attempts, those for the other side included."""
    timings_ms: Timings
    """Where the time went."""
    next_steps: tuple[NextStep, ...]
    """What to read next: up to three of the pages cited, in the order in which they are cited."""


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """An approved page of a domain, as configured."""

    url: str
    title: str
    topics: tuple[str, ...] = ()
    nations: tuple[str, ...] = ()
    selector: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How pages are fetched and cut; the defaults are those of the sources file."""

    ttl_hours: float = 24
    references: int = 8
    passages_per_scope: int = 2
    max_words: int = 80
    fetch_timeout_s: float = 5.0
    failure_ttl_s: int = 60
    stale_days: int = 30
    contact: str = ""


@dataclass(frozen=True, slots=True)
class DomainDetected:
    """Told first: which domain the dispute is about."""

    domain: str
    domain_scores: tuple[DomainScore, ...]


@dataclass(frozen=True, slots=True)
class ReferencesReady:
    """Told before the model is asked: what it may cite."""

    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """Told each time the model is asked; the first has number 1."""

    number: int


@dataclass(frozen=True, slots=True)
class FieldChecked:
    """Told of each field of a reply as soon as it is complete, if it breaks no rule."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    """As it will stand in the verdict, unless a restart lets it fall."""
    citations: tuple[Citation, ...]
    """Its own."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """Told when a reply is asked again, or begins anew: what was wrong with it, and what stays.

    There is no defect where a connection broke or another model took over.
    """

    defects: tuple[Defect, ...]
    keeps: tuple[str, ...] = ()
    """The names of the fields told so far that stay; all others fall."""


@dataclass(frozen=True, slots=True)
class SupportAsked:
    """Told when the model is asked about the citations of its verdict: how many there are."""

    citations: int


Step = DomainDetected | ReferencesReady | AttemptStarted | FieldChecked | Restarted | SupportAsked
"""What a judgement tells on its way."""

Tell = Callable[[Step], None]
"""How it does so; it must return at once."""
