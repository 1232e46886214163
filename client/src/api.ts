// What the service takes and sends. Written by `make docs` from its OpenAPI document.

/** Each time the model is asked; the first has number 1. */
export interface AttemptStarted {
  number: number;
}

/**
 * Check an answer's citations against its sources.
 *
 * The answer cites with `[n]` or `<cite i="n"/>`, where n counts the sources from 1. For every
 * mark the reply has the sentence of the source that supports it best, how far (`support`), and
 * whether it says the opposite (`contradicts`); `uncited` has the sentences that make a claim and
 * cite nothing. No model is asked: the same answer has the same result for ever.
 */
export interface CheckRequest {
  /** The answer, as it was given. */
  answer: string;
  /** What it cites, in the order of the numbers; each has exactly one of `text`, `url` (an approved page) and `passage` (the `id` of a search result). */
  sources: Array<SourceToCheck>;
  /** Which marks are citations; both by default. The other form is prose. */
  marks?: "brackets" | "cite" | null;
}

/** What came of checking an answer against its sources; deterministic. */
export interface CheckedAnswer {
  /** Every citation, in order. */
  marks: Array<CheckedMark>;
  /** Sentences that make a claim and cite nothing, in order. */
  uncited: Array<UncitedClaim>;
  /** `broken`: a mark is malformed or out of range; `unsupported`: no cited claim is supported; `partly`: some are, and others are not or cite nothing; `supported`: all are. */
  verdict: "supported" | "partly" | "unsupported" | "broken";
  /** The sources, in the order of their numbers. */
  sources: Array<CheckedSource>;
}

/** A number in a citation mark of the answer, and how far its source supports the claim. */
export interface CheckedMark {
  /** The source cited, counted from 1; null where the mark is malformed. */
  number: number | null;
  /** Where the mark begins, in code points; `[1, 3]` has an entry for each number. */
  start: number;
  /** Where it ends. */
  end: number;
  /** Whether there is a source of that number. */
  in_range: boolean;
  /** The sentence of the source that supports most of the claim, or contradicts it; null where none supports any of it. */
  sentence: string | null;
  /** How far the source supports the claim of the mark, 0 to 1; null under three content words, and where there is no source. */
  support: number | null;
  /** Whether that sentence says the opposite. */
  contradicts: boolean;
}

/** A source as it was read. */
export interface CheckedSource {
  /** What marks refer to, from 1. */
  number: number;
  /** Its title, or empty. */
  title: string;
  /** The text that the answer was compared with. */
  text: string;
}

/** One passage that was found; scores compare only within one search. */
export interface Chunk {
  id: string;
  text: string;
  score: number;
  document_id: string;
  document_title: string;
  collection_id: string;
  collection_name: string;
  position: number;
  highlight: string;
  /** Where it stands: `path`, `source_url` (an address or a path), `chapter`, `section`, `folder`, `start_line` and `end_line` from 1, `language`, `tags` and `modified`; or empty. */
  metadata: Record<string, unknown>;
}

/** A number in the reply's text; offsets count code points in `field`. */
export interface Citation {
  /** The reference's. */
  number: number;
  /** `summary` or `personas.1.rationale`. */
  field: string;
  /** Where its bracket begins, in code points. */
  start: number;
  /** Where its bracket ends. */
  end: number;
  /** Of the sentences named, the one that supports the citing one most; null if none was named. */
  quote: string | null;
  /** `verified`: the reply named its sentence; `none`: it named none. */
  quote_status: "verified" | "none";
  /** How far those sentences support the citing one, 0 to 1; null under three content words. */
  support: number | null;
  /** Whether the citing sentence says the opposite of the sentences named. */
  contradicts: boolean;
}

/** A piece of a symbol's context; *symbol* is the definition that the piece belongs to. */
export interface CodeContextItem {
  file: string;
  line: number;
  kind: "definition" | "caller" | "callee" | "test";
  confidence: "exact" | "inferred" | "dispatch" | "possible" | "text";
  snippet: CodeSnippet;
  symbol: string;
}

/** A symbol's definition, callers, callees and tests, best first, in about *tokens* tokens. */
export interface CodeContextResult {
  symbol: string;
  resolved: string;
  docstring: string | null;
  items: Array<CodeContextItem>;
  truncated: boolean;
  tokens: number;
  freshness_state: "FRESH" | "STALE" | "UNKNOWN";
  staleness?: Staleness;
  source: "RAG_GRAPH";
}

/** A few lines of source around a place. */
export interface CodeSnippet {
  text: string;
  location: SnippetLocation;
}

/** A rule that a reply of the model broke, without the words that broke it. */
export interface DefectDetails {
  rule: string;
  field: string;
  expected: string;
  hard: boolean;
  /** In a problem: whether the first reply broke it or the second. */
  attempt?: number;
}

/** What is in the index now. */
export interface DocumentAdded {
  document_id: string;
  passages: number;
}

/** The first step: which domain the dispute is about. */
export interface DomainDetected {
  domain: string;
  domain_scores: Array<DomainScore>;
}

/** What a dispute can be about, and the pages that are quoted for it. */
export interface DomainResponse {
  name: string;
  title: string;
  sources: Array<SourceResponse>;
}

/** How well one domain fits, and the terms of the text that say so. */
export interface DomainScore {
  /** Its name. */
  domain: string;
  /** How well it fits; 3 decides alone. */
  score: number;
  /** The terms found in the text. */
  matched: Array<string>;
}

/** All domains, in the order of the sources file. */
export interface DomainsResponse {
  domains: Array<DomainResponse>;
}

/** The short form of a reference that the first frontends read. */
export interface Excerpt {
  /** Where it is from. */
  url: string;
  /** The reference's text. */
  text: string;
}

/** For each field of a reply that breaks no rule, as soon as it is complete. */
export interface FieldChecked {
  /** `paraphrase`, `personas.0` and so on, or `summary`. */
  name: string;
  /** As it will be in the verdict, unless a restart withdraws it. */
  value: string | PersonaVerdict;
  /** The citations in this field. */
  citations: Array<Citation>;
}

/** What is wrong with one field, in words. */
export interface FieldError {
  field: string;
  message: string;
}

/** When help lines are known, and again when the model names more; none is ever withdrawn. */
export interface HelpFound {
  /** All of them. */
  help: Array<HelpLine>;
}

/** A service or person to turn to for help. */
export interface HelpLine {
  /** Who they are. */
  title: string;
  /** Their page. */
  url: string;
  /** Their number, or empty. */
  phone: string;
}

/** A dispute and the question about it; lengths are in code points after trimming. */
export interface JudgeRequest {
  /** What happened, in the person's words: 10 to 8000 characters after trimming. */
  context: string;
  /** What they ask about it: 5 to 1000 characters after trimming. */
  query: string;
  /** A name from `/api/domains`, or `default` for none; else it is detected. */
  domain?: string | null;
  /** Where to find indexed documents to cite too, such as `@collection:a`. */
  scope?: string | null;
  /** Whether the other side's account is judged too; two more model calls. */
  hear_other_side?: boolean;
}

/** The body of a 200 reply; field names are the interface. */
export interface JudgeResult {
  /** The request's id. */
  id: string;
  /** The dispute, retold in about 30 words. */
  paraphrase: string;
  /** The answer in about 120 words, with numbers in brackets for what it cites. */
  summary: string;
  /** One to six, in the order of the sources file. */
  personas: Array<PersonaVerdict>;
  /** What it is about; `default` when no domain was detected. */
  domain: string;
  /** The ranking behind it, best first. */
  domain_scores: Array<DomainScore>;
  /** What could be cited, in the order of their numbers. */
  references: Array<Reference>;
  /** The URLs and texts of the references, for older frontends. */
  snippets: Array<Excerpt>;
  /** Each number in the texts, with its place and its quotation. */
  citations: Array<Citation>;
  /** `grounded`: every cited reference has a sentence named, and no rule is broken; `unverified`: not so; `weak`: what is cited says nothing of what it is cited for; `missing`: nothing is cited; `not_applicable`: no reference bears on it; `none`: there was none. */
  evidence: "grounded" | "weak" | "unverified" | "missing" | "not_applicable" | "none";
  /** Help lines: those for danger in the dispute, then those of its domain. */
  help: Array<HelpLine>;
  /** What to know before trusting the answer, a sentence each; a contradiction comes first. */
  warnings: Array<string>;
  /** The verdicts for the other side; null unless `hear_other_side` asked for them. */
  other_side: OtherSide | null;
  /** The name of the model that answered. */
  model: string;
  /** Whether a fallback answered instead of the usual model. */
  degraded: boolean;
  /** How often the model was asked: 1 or 2. */
  attempts: number;
  /** What shaped the answer besides the model. */
  versions: Versions;
  /** Tokens of all attempts, and of the calls about citations and for the other side. */
  usage: Usage;
  /** Where the time went. */
  timings_ms: Timings;
  /** What to read next: up to three of the pages cited, in the order in which they are cited. */
  next_steps: Array<NextStep>;
}

/**
 * A symbol that was reached, with the last edge of the shortest path to it.
 *
 * *path* holds the full names from the symbol that was asked for to this one; *depth* is its
 * number of edges. *file* and *line* are those of the last edge.
 */
export interface LineageItem {
  file: string;
  line: number;
  kind: string;
  confidence: "exact" | "inferred" | "dispatch" | "possible" | "text";
  snippet: CodeSnippet;
  symbol: string;
  depth: number;
  path: Array<string>;
}

/** What feeds a symbol (upstream) or what depends on it (downstream), nearest first. */
export interface LineageResult {
  symbol: string;
  resolved: string;
  direction: "upstream" | "downstream";
  items: Array<LineageItem>;
  truncated: boolean;
  freshness_state: "FRESH" | "STALE" | "UNKNOWN";
  staleness?: Staleness;
  source: "RAG_GRAPH";
}

/** The process answers. */
export interface Liveness {
  status: "ok";
}

/** A document to be indexed, given as its text or as the address of its page. */
export interface NewDocument {
  collection: string;
  text?: string | null;
  url?: string | null;
  document_id?: string | null;
  title?: string | null;
  folder?: string;
  tags?: Array<string>;
  modified?: string | null;
}

/** What the person can do next: a page to read, which the answer cites. */
export interface NextStep {
  /** The page's own title. */
  title: string;
  /** Its address. */
  url: string;
}

/** The same facts as the other side would tell them, and the verdicts on that. */
export interface OtherSide {
  /** Their story; empty when no retelling kept the facts. */
  retelling: string;
  /** The verdict of each persona, in the same order; empty when the other side was not heard. */
  personas: Array<OtherVerdict>;
  /** False when a persona tells both sides that they are right, with "No" to each; null when the other side was not heard. */
  agrees: boolean | null;
  /** Why the other side was not heard, or empty. */
  note: string;
}

/** The verdict of one persona for the other side. */
export interface OtherVerdict {
  /** The persona's name. */
  name: string;
  /** Whether the other side is being unreasonable. */
  verdict: "Yes" | "No" | "Partially";
  /** Its reasons in a line, with the numbers of the references cited. */
  rationale: string;
}

/** What one persona says; `verdict` is None only where no model judged. */
export interface PersonaVerdict {
  /** The persona's name. */
  name: string;
  /** Whether the person is being unreasonable, however they asked; null where no model judged. */
  verdict: "Yes" | "No" | "Partially" | null;
  /** A line that answers what was asked, in the person's language; empty where no model judged. */
  headline: string;
  /** Its reasons, with numbers for what they cite. */
  rationale: string;
  /** Three short pieces of advice. */
  key_points: Array<string>;
}

/** Problem details (RFC 9457). */
export interface ProblemDetails {
  /** Ends in the kind of problem; the address explains it. */
  type: string;
  /** The kind, in words. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What happened and what to do next. */
  detail: string;
  /** The path asked. */
  instance: string;
  /** Repeats `detail`. */
  error: string;
  /** With `invalid-request`: each wrong field. */
  errors?: Array<FieldError>;
  /** With `unknown-domain`, `bad-scope` and an unknown repository: what can be used. */
  valid?: Array<string>;
  /** With `ambiguous`: what may be meant. */
  candidates?: Array<string>;
  /** Where a dispute was read and not judged: somebody to turn to. */
  help?: Array<HelpLine>;
  /** With `invalid-reply`: the rules that the replies broke. */
  defects?: Array<DefectDetails>;
  /** With `invalid-reply`: how often the model was asked. */
  attempts?: number;
  /** With `internal-error`: what to tell whoever runs the service. */
  request_id?: string;
}

/** Whether requests should be sent here. */
export interface Readiness {
  status: "ok" | "draining" | "unready";
  /** What is down that can be done without. */
  degraded: Array<string>;
}

/** A snippet with its number in the prompt; *text* is what the model was shown. */
export interface Reference {
  /** What citations refer to, from 1. */
  number: number;
  /** An approved page, or a passage of the indexed documents. */
  kind: "page" | "passage";
  /** Where it is from. */
  url: string;
  /** Its title. */
  title: string;
  /** The exact text that the model was shown. */
  text: string;
  /** When it was fetched or changed, in UTC. */
  fetched_at: string;
  /** The publisher's own date, null when there is none. */
  updated?: string | null;
  /** Whether the text is old because the page could not be fetched again. */
  stale: boolean;
  /** Whether the answer cites it; false while there is no answer yet. */
  cited: boolean;
}

/** Before the model is asked: what it may cite. */
export interface ReferencesReady {
  references: Array<Reference>;
}

/**
 * The model is asked again, or its reply begins anew: every field told so far is withdrawn.
 *
 * `defects` is empty where a connection broke or another model took over.
 */
export interface RestartEvent {
  defects: Array<DefectDetails>;
  /** The names of fields that stay; a frontend removes all others. Now always empty. */
  keeps: Array<string>;
}

/** Further limits, joined to the scope by AND; several names in one field are joined by OR. */
export interface SearchFilters {
  collection_name?: Array<string> | null;
  collection_id?: Array<string> | null;
  document_id?: Array<string> | null;
  folder_path?: string | null;
  recursive?: boolean;
  tags?: Array<string> | null;
  modified_after?: string | null;
  modified_before?: string | null;
}

/** Lines that match, so near one another that one snippet shows them. */
export interface SearchItem {
  file: string;
  line: number;
  kind: string;
  confidence: "exact" | "inferred" | "dispatch" | "possible" | "text";
  snippet: CodeSnippet;
  lines: Array<number>;
}

/** What is looked for, and where; @mentions may also stand in the query. */
export interface SearchRequest {
  query: string;
  context?: string | null;
  limit?: number;
  offset?: number;
  filters?: SearchFilters | null;
  include_metadata?: boolean;
  format?: "json" | "answer";
}

/** What was found; `hint` and `warnings` are there when there is one. */
export interface SearchResponse {
  query: string;
  context: string | null;
  chunks: Array<Chunk>;
  total_found: number;
  search_time_ms: number;
  /** The scope as understood: `scope` as it is written, and its `clauses`; empty is everywhere. */
  filters_applied: Record<string, unknown>;
  /** What of the scope held nothing, or that nothing is indexed. */
  hint?: string;
  warnings?: Array<string>;
}

/** The answer to a search; `truncated` is true only when there is more. */
export interface SearchResult {
  query: string;
  items: Array<SearchItem>;
  truncated: boolean;
  freshness_state: "FRESH" | "STALE" | "UNKNOWN";
  staleness?: Staleness;
  source: "RAG_GRAPH";
}

/** Which lines of which file a snippet shows; both ends count. */
export interface SnippetLocation {
  path: string;
  start_line: number;
  end_line: number;
}

/** A page that is quoted. */
export interface SourceResponse {
  url: string;
  title: string;
}

/** A source of the answer: a text, an approved page or a passage of the indexed documents. */
export interface SourceToCheck {
  /** Its very words. */
  text?: string | null;
  /** The address of an approved page, as `/api/domains` names it. */
  url?: string | null;
  /** The `id` of a passage that a search found. */
  passage?: string | null;
  /** What it is called; a page and a passage have titles of their own. */
  title?: string | null;
}

/** How the files differ from those of the graph, by path. */
export interface Staleness {
  changed: Array<string>;
  added: Array<string>;
  deleted: Array<string>;
  reason?: string | null;
}

/** What `/api/judge/stream` sends: the data of each event, by its name. */
export interface StreamEvents {
  domain?: DomainDetected;
  help?: HelpFound;
  references?: ReferencesReady;
  attempt?: AttemptStarted;
  field?: FieldChecked;
  restart?: RestartEvent;
  support?: SupportAsked;
  verdict?: JudgeResult;
  error?: ProblemDetails;
}

/** When the model is asked about the citations of its verdict: how many there are. */
export interface SupportAsked {
  citations: number;
}

/** Milliseconds of wall time. */
export interface Timings {
  /** Until the references are ready: waiting for admission, the domain, its pages. */
  references: number;
  /** To ask the model and check its replies. */
  model: number;
  /** Both. */
  total: number;
}

/** A sentence of the answer that makes a claim and cites nothing. */
export interface UncitedClaim {
  /** Where it begins, in code points. */
  start: number;
  /** Where it ends. */
  end: number;
}

/** Tokens as the model counted them. */
export interface Usage {
  /** Read. */
  input_tokens: number;
  /** Written. */
  output_tokens: number;
  /** Spent on thinking. */
  thinking_tokens: number;
  /** Of those read, the ones that the service had cached, which cost less. */
  cached_tokens: number;
}

/** What shaped the verdict. */
export interface Versions {
  /** A digest of the instructions. */
  prompt: string;
  /** A digest of the sources file. */
  sources: string;
  /** The model's name and version as its service reports them. */
  model?: string | null;
}

/**
 * One use of a symbol, or (`kind` is `definition`) one of its definitions.
 *
 * *enclosing* is the full name of the definition in which the use stands, null in a text file.
 * *through* is, for a `dispatch` use, the method of a base class that is called there.
 */
export interface WhereUsedItem {
  file: string;
  line: number;
  kind: string;
  confidence: "exact" | "inferred" | "dispatch" | "possible" | "text";
  snippet: CodeSnippet;
  enclosing: string | null;
  through?: string | null;
}

/**
 * All uses of a symbol: definitions, exact and inferred uses by kind, dispatch, text, possible.
 *
 * *symbol* is the name asked for, *resolved* its full name. *counts* are uses by kind, before the
 * limit; *text_mentions* counts lines that only mention the name, and *possible_count* uses on
 * receivers of unknown type, whether they are shown or not.
 */
export interface WhereUsedResult {
  symbol: string;
  resolved: string;
  items: Array<WhereUsedItem>;
  truncated: boolean;
  counts: Record<string, number>;
  text_mentions: number;
  possible_count: number;
  freshness_state: "FRESH" | "STALE" | "UNKNOWN";
  staleness?: Staleness;
  source: "RAG_GRAPH";
}
