// @ts-nocheck Written by `make docs` from client/src/wording.ts, where its types are checked.
// Verdicts and broken rules in plain words, for people who read an answer.

/** A verdict as a sentence: a bare No to "May I stop paying?" would be misread. */
export function verdictInWords(word                           )         {
  if (word === "No") return "No, you are not being unreasonable";
  if (word === "Yes") return "Yes, you are being unreasonable";
  return word ? "Partly: you have a point, and so do they" : "No verdict";
}

/** The headline of a persona, unless it only repeats its verdict. @param {{headline?: string, verdict: any}} told */
export function ownHeadline({ headline, verdict }                                                           )         {
  return !headline || headline === `${verdictInWords(verdict)}.` ? "" : headline;
}

const FIELDS                         = { summary: "The summary", paraphrase: "The retelling", reply: "The answer" };
const PARTS                         = { rationale: "reasoning", key_points: "advice", verdict: "verdict", headline: "headline" };
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"];

/** The name of a field, for people; without the names of *personas*, which a verdict has, they are counted. */
export function fieldInWords(field        , personas           = [])         {
  const [, index, part = ""] = /^personas\.(\d+)\.?(\w*)/.exec(field) ?? [];
  if (index === undefined) return FIELDS[field] ?? "The answer";
  return `The ${personas[Number(index)] ?? `${ORDINALS[Number(index)]} voice`}’s ${PARTS[part] ?? "part"}`;
}

const DEFECTS                                                              = {
  citation: (where, expected) =>
    expected.startsWith("no number")
      ? `${where} cites something, although there is nothing to cite.`
      : `${where} cites something that is not there; it may only cite ${expected}.`,
  length: (where, expected) => `${where} was too long and is cut; ${expected} are wanted.`,
  uncited: (where) => `${where} rests on none of the references.`,
  misquoted: (where) => `${where} quotes words that stand in no reference and not in your story.`,
  address: (where) => `${where} names an address or number that stands in no reference of ours.`,
  unclear: (where) => `${where} has a bracket that may or may not cite something.`,
  bare: (where) => `${where} seems to cite something that is no reference of ours.`,
  misplaced: (where) => `${where} cites something, where nothing should be cited.`,
  repetition: (where) => `${where} repeats itself, or what the model was told.`,
  contradicts: (where, expected) =>
    `${where} says the opposite of what it cites: read reference ${/\d+/.exec(expected)?.[0] ?? ""} itself.`,
  unfinished: () => "The answer broke off before its end.",
  verdict: (where) => `${where} is missing.`,
};

/** A broken rule in plain words. */
export function defectInWords({ rule, field, expected }                                                    , personas           = [])         {
  if (rule === "quote") return `No sentence of reference ${/\d+/.exec(field)?.[0] ?? ""} is named, although it is cited.`;
  const say = DEFECTS[rule];
  return say ? say(fieldInWords(field, personas), expected) : "The answer was not in the form that we ask for.";
}

/** *warning* in plain words if it names a broken rule, else as it is. */
export function warningInWords(warning        , personas          )         {
  const [, field = "", rule = "", expected = ""] = /^(\S+) \((\w+)\): expected (.*)$/s.exec(warning) ?? [];
  return rule ? defectInWords({ rule, field, expected }, personas) : warning;
}
