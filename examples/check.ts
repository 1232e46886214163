// The citations of an answer held against its sources, with the TypeScript client.
// `node examples/check.ts` (22.18 or later); JUDGE_URL and JUDGE_API_KEY as in judge.ts.

import { check, Problem } from "../client/src/client.ts";

const { JUDGE_URL = "http://127.0.0.1:8000", JUDGE_API_KEY: key } = process.env;
const answer =
  "Your landlord must keep the boiler in working order [1]. " +
  "The deposit must be returned within thirty days [2]. " +
  "The council can fine landlords who ignore repairs.";
const sources = [
  { title: "Repairs", text: "Your landlord must keep the boiler in working order." },
  { title: "Lease", text: "The deposit must be returned within ten days." },
];

try {
  const checked = await check({ answer, sources }, { baseUrl: JUDGE_URL, key });
  for (const mark of checked.marks) {
    const opposite = mark.contradicts ? ", CONTRADICTED" : "";
    console.log(`[${mark.number}] support ${mark.support}${opposite}: ${mark.sentence}`);
  }
  const characters = [...answer]; // offsets count code points; those of a string are UTF-16's
  for (const { start, end } of checked.uncited) {
    console.log(`cites nothing: ${characters.slice(start, end).join("")}`);
  }
  console.log(checked.verdict);
} catch (error) {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
}
