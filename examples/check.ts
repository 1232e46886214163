// Checks the citations of an answer against its sources, for browsers and Node, with fetch alone.
// `node examples/check.ts` (22.18 or later); JUDGE_URL and JUDGE_API_KEY as in judge.ts.

export interface Source {
  text?: string;
  url?: string;
  passage?: string;
  title?: string;
}

export interface CheckedMark {
  number: number | null;
  start: number;
  end: number;
  in_range: boolean;
  sentence: string | null;
  support: number | null;
  contradicts: boolean;
}

export interface CheckedAnswer {
  marks: CheckedMark[];
  uncited: { start: number; end: number }[];
  verdict: "supported" | "partly" | "unsupported" | "broken";
  sources: { number: number; title: string; text: string }[];
}

export async function checkAnswer(
  base: string,
  answer: string,
  sources: Source[],
  key?: string,
): Promise<CheckedAnswer> {
  const reply = await fetch(`${base}/api/check`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(key ? { Authorization: `Bearer ${key}` } : {}),
    },
    body: JSON.stringify({ answer, sources }),
  });
  const body = await reply.json();
  if (!reply.ok) throw new Error(`${body.title}: ${body.detail}`);
  return body;
}

async function main(): Promise<void> {
  const { JUDGE_URL = "http://127.0.0.1:8000", JUDGE_API_KEY: key } = process.env;
  const answer =
    "Your landlord must keep the boiler in working order [1]. " +
    "The deposit must be returned within thirty days [2]. " +
    "The council can fine landlords who ignore repairs.";
  const checked = await checkAnswer(
    JUDGE_URL,
    answer,
    [
      { title: "Repairs", text: "Your landlord must keep the boiler in working order." },
      { title: "Lease", text: "The deposit must be returned within ten days." },
    ],
    key,
  );
  for (const mark of checked.marks) {
    const opposite = mark.contradicts ? ", CONTRADICTED" : "";
    console.log(`[${mark.number}] support ${mark.support}${opposite}: ${mark.sentence}`);
  }
  const characters = [...answer]; // offsets count code points; those of a string are UTF-16's
  for (const { start, end } of checked.uncited) {
    console.log(`cites nothing: ${characters.slice(start, end).join("")}`);
  }
  console.log(checked.verdict);
}

if (process.argv[1]?.endsWith("check.ts")) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
