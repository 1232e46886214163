// A verdict as a Markdown document. Text of pages, models and people is escaped.

import { ownHeadline, verdictInWords, warningInWords } from "./wording.js";
import { day } from "./words.js";

/** @import {HelpLine, JudgeResult, Reference} from "../../../client/src/client.ts" */

/** *text* on one line, with the special characters of Markdown and HTML escaped. */
const plain = (text) => String(text).replace(/\s+/g, " ").trim()
  .replace(/[\\`*_{}[\]<>#&~|!]/g, "\\$&").replace(/^([-+=]|\d+(?=[.)]))/, "\\$1");

/** A link if *url* is http or https, else *words* alone. */
function link(url, words) {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return plain(words);
  return `[${plain(words || url)}](<${new URL(url).href}>)`;
}

const list = (items) => items.map((item) => `- ${item}`).join("\n");

function section(title, items) {
  return items.length ? [`## ${title}`, list(items)] : [];
}

/** @type {(line: HelpLine) => string} */
const helpLine = ({ title, url, phone }) => [link(url, title), phone ? plain(phone) : ""].filter(Boolean).join(", ");

/** @param {Reference} reference */
function reference({ number, url, title, text, updated, stale }) {
  const facts = [updated ? `updated ${day(updated)}` : "", stale ? "could not be fetched anew" : ""].filter(Boolean);
  const age = facts.length ? ` (${facts.join("; ")})` : "";
  return `\\[${number}\\] ${link(url, title || url)}${age}: “${plain(text)}”`;
}

/** *verdict* as a document, from warnings to references. @param {JudgeResult} verdict */
export function asMarkdown(verdict) {
  const { help, warnings, paraphrase, summary, personas, other_side: other, references, next_steps: steps = [] } = verdict;
  const names = personas.map(({ name }) => name);
  /** @type {(persona: {name: string, verdict: any, headline?: string, rationale: string, key_points?: string[]}) => string[]} */
  const voice = (told) => {
    const headline = ownHeadline(told);
    return [
      `### ${plain(told.name)}: ${verdictInWords(told.verdict)}`,
      headline ? `**${plain(headline)}**` : "",
      plain(told.rationale),
      list((told.key_points ?? []).map(plain)),
    ].filter(Boolean);
  };
  const blocks = [
    "# Am I being unreasonable?",
    ...section("Worth knowing", warnings.filter((warning) => warning !== other?.note).map((warning) => plain(warningInWords(warning, names)))),
    ...section("Who can help", help.map(helpLine)),
    "## What we make of it",
    plain(paraphrase),
    plain(summary),
    ...personas.flatMap(voice),
    ...(other ? ["## The other side", plain(other.retelling), ...other.personas.flatMap(voice), plain(other.note)] : []),
    ...section("What you can do next", steps.map(({ title, url }) => `Read: ${link(url, title)}`)),
    ...section("References", references.filter(({ cited }) => cited).map(reference)),
    "An answer here is food for thought, not legal or medical advice.",
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}
