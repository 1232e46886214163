// A client in TypeScript for browsers and Node, with nothing but fetch.
// `node examples/judge.ts` (22.18 or later) asks once plainly and once as a stream.
// JUDGE_URL says where Judge is; JUDGE_API_KEY is sent when it is set.

export interface Dispute {
  context: string;
  query: string;
  domain?: string;
  scope?: string;
}

export interface Reference {
  number: number;
  kind: "page" | "passage";
  url: string;
  title: string;
  text: string;
  fetched_at: string;
  /** The publisher's own date, such as 2025-04-01. */
  updated: string | null;
  stale: boolean;
  /** Whether the answer rests on it; show the others apart, as looked at and not used. */
  cited: boolean;
}

export interface Citation {
  number: number;
  /** Such as `summary` or `personas.1.rationale`; offsets in it count code points. */
  field: string;
  start: number;
  end: number;
  quote: string | null;
  quote_status: "verified" | "none";
  support: number | null;
  /** Whether what cites says the opposite of what is cited. */
  contradicts: boolean;
}

export interface Persona {
  name: string;
  verdict: "Yes" | "No" | "Partially" | null;
  rationale: string;
  key_points: string[];
}

export interface Verdict {
  id: string;
  paraphrase: string;
  summary: string;
  personas: Persona[];
  domain: string;
  references: Reference[];
  citations: Citation[];
  evidence: "grounded" | "unverified" | "missing" | "not_applicable" | "none";
  warnings: string[];
  degraded: boolean;
  attempts: number;
}

export interface Defect {
  rule: string;
  field: string;
  expected: string;
  hard: boolean;
}

/** What happens on the way to a verdict, and the verdict. */
export type Step =
  | { name: "domain"; data: { domain: string } }
  | { name: "references"; data: { references: Reference[] } }
  | { name: "attempt"; data: { number: number } }
  | { name: "field"; data: { name: string; value: string | Persona; citations: Citation[] } }
  | { name: "restart"; data: { defects: Defect[]; keeps: string[] } }
  | { name: "verdict"; data: Verdict };

/** Problem details (RFC 9457): `type` is for programs, `detail` for people. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
}

export class Problem extends Error {
  readonly details: ProblemDetails;

  constructor(details: ProblemDetails) {
    super(`${details.title}: ${details.detail}`);
    this.details = details;
  }
}

export interface Options {
  baseUrl: string;
  key?: string;
  /** Aborting it also ends the call of the model. */
  signal?: AbortSignal;
}

async function post(path: string, dispute: Dispute, options: Options): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (options.key) headers.authorization = `Bearer ${options.key}`;
  const body = JSON.stringify(dispute);
  const { signal } = options;
  const response = await fetch(options.baseUrl + path, { method: "POST", headers, body, signal });
  if (!response.ok) throw new Problem((await response.json()) as ProblemDetails);
  return response;
}

/** The verdict; throws Problem. */
export async function judge(dispute: Dispute, options: Options): Promise<Verdict> {
  const response = await post("/api/judge", dispute, options);
  return (await response.json()) as Verdict;
}

/** Each step as it happens, the verdict last; throws Problem. */
export async function* judgeInSteps(dispute: Dispute, options: Options): AsyncGenerator<Step> {
  const response = await post("/api/judge/stream", dispute, options);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      // Other blocks are comments, which keep the line alive.
      const found = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (!found) continue;
      const [, name, data] = found;
      if (name === "error") throw new Problem(JSON.parse(data) as ProblemDetails);
      yield { name, data: JSON.parse(data) } as Step;
    }
  }
}

async function main(): Promise<void> {
  const { JUDGE_URL = "http://127.0.0.1:8000", JUDGE_API_KEY: key } = process.env;
  const options: Options = { baseUrl: JUDGE_URL, key };
  const dispute: Dispute = {
    context: "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
    query: "Am I being unreasonable to ask for part of the rent back?",
  };
  const verdict = await judge(dispute, options);
  console.log(verdict.summary);
  for (const { name, verdict: word } of verdict.personas) console.log(`${name}: ${word}`);
  for await (const step of judgeInSteps(dispute, options)) {
    console.log(step.name === "verdict" ? step.data.summary : `… ${step.name}`);
  }
}

if (process.argv[1]?.endsWith("judge.ts")) {
  main().catch((error: unknown) => {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  });
}
