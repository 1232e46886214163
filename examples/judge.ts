// A judgement asked for with the TypeScript client, plainly and in steps.
// `node examples/judge.ts` (22.18 or later); JUDGE_URL says where Judge is, JUDGE_API_KEY is sent.

import { judge, judgeInSteps, Problem } from "../client/src/client.ts";

const { JUDGE_URL = "http://127.0.0.1:8000", JUDGE_API_KEY: key } = process.env;
const options = { baseUrl: JUDGE_URL, key };
const dispute = {
  context: "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
  query: "Am I being unreasonable to ask for part of the rent back?",
};

try {
  const verdict = await judge(dispute, options);
  console.log(verdict.summary);
  for (const { name, verdict: word } of verdict.personas) console.log(`${name}: ${word}`);
  for await (const step of judgeInSteps(dispute, options)) {
    console.log(step.name === "verdict" ? step.data.summary : `… ${step.name}`);
  }
} catch (error) {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
}
