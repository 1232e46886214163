// The answer: shown field by field as it is written, then whole, with warnings, help and details.

import { showReferences, withChips } from "./citations.js";
import { announce, byId, goTo, h, link } from "./dom.js";
import { helpLines } from "./problems.js";
import { shareButtons } from "./share.js";
import { ownHeadline, verdictInWords, warningInWords } from "./wording.js";
import { plural } from "./words.js";

/** @import {Citation, FieldChecked, HelpLine, JudgeResult, NextStep, OtherSide, PersonaVerdict, Reference, RestartEvent} from "../../../client/src/client.ts" */

const EVIDENCE = {
  grounded: "Every citation names what it rests on, and shows it in the words of the page.",
  weak: "What is cited says nothing of what it is cited for: read the page itself.",
  unverified: "Some citations name no sentence that they rest on, or a rule is broken: see the warnings.",
  missing: "The answer should rest on the references, and does not.",
  contradicted: "Something here says the opposite of what it cites; it is marked. Go by the page.",
  not_applicable: "Pages were looked at, and none bears on this dispute, so nothing is cited: this answer is the model’s own view.",
  none: "No page was used: this answer is the model’s own view.",
};

const VERDICT_CLASSES = { Yes: "yes", No: "no", Partially: "partially" };

/** One answer, from the first field to the last. */
export class Answer {
  /** @type {Reference[]} */
  #references = [];
  /**
   * What is shown, by field name: the element, its citations, and both data as text to compare.
   * @type {Map<string, {node: HTMLElement, citations: Citation[], text: string}>}
   */
  #shown = new Map();
  /** @type {Record<string, HTMLElement>} */
  #place = {};

  /** @param {Map<string, string>} titles */
  constructor(titles) {
    this.titles = titles;
    for (const name of ["first", "paraphrase", "summary", "personas", "last"]) {
      this.#place[name] = h(name === "personas" ? "ul" : "div", { class: name, hidden: name === "personas" });
    }
    byId("outcome").replaceChildren(...Object.values(this.#place));
    this.#title("Looking into it");
    showReferences([]);
  }

  get isEmpty() {
    return this.#shown.size === 0;
  }

  /** @param {Reference[]} references */
  references(references) {
    this.#references = references;
    showReferences(references);
  }

  /** Show one field that is complete and checked, unless the same is shown already. @param {FieldChecked} field */
  field({ name, value, citations }) {
    const place = this.#place[name.split(".")[0]];
    const text = JSON.stringify([value, citations]);
    if (!place || this.#shown.get(name)?.text === text) return;
    const node = elementOf(name, value, citations);
    this.#shown.get(name)?.node.remove();
    this.#shown.set(name, { node, citations, text });
    const others = /** @type {HTMLElement[]} */ ([...place.children]);
    place.insertBefore(node, others.find((other) => (other.dataset.field ?? "") > name) ?? null);
    place.hidden = false;
    this.#wait();
    this.#markReferences();
  }

  /** Remove all fields but those in `keeps`; the names of those removed. @param {RestartEvent} event */
  restart({ keeps = [] }) {
    const removed = [...this.#shown.keys()].filter((name) => !keeps.includes(name));
    for (const name of removed) {
      this.#shown.get(name)?.node.remove();
      this.#shown.delete(name);
    }
    this.#wait();
    this.#markReferences();
    return removed;
  }

  /** Keep what is shown, under *title*, when the answer breaks off. @param {string} title */
  breakOff(title) {
    byId("outcome").querySelector(".waiting")?.remove();
    this.#title(title);
    byId("verdict-title").hidden = this.isEmpty;
  }

  /** Show the whole *verdict*, and scroll to it if nothing of it was shown before. @param {JudgeResult} verdict */
  finish(verdict) {
    const isNew = this.isEmpty;
    for (const [name, value] of fieldsOf(verdict)) {
      const citations = verdict.citations.filter(({ field }) => field === name || field.startsWith(`${name}.`));
      this.field({ name, value, citations });
    }
    this.#place.first.replaceChildren(...present(first(verdict)));
    this.#place.last.replaceChildren(...present(last(verdict, this.titles)));
    showReferences(verdict.references, verdict.citations, true);
    this.#title("What we make of it");
    announce(["The answer is here.", ...(warnsOfBoth(verdict) ? verdict.warnings.slice(0, 1) : [])].join(" "));
    if (isNew) goTo(byId("verdict-title"));
  }

  #title(words) {
    byId("verdict-title").textContent = words;
    byId("verdict-title").hidden = false;
  }

  /** Keep room for the summary, which is written last and read first. */
  #wait() {
    const { summary } = this.#place;
    summary.querySelector(".waiting")?.remove();
    if (!this.isEmpty && !this.#shown.has("summary")) summary.append(h("div", { class: "waiting", "aria-hidden": "true" }));
  }

  #markReferences() {
    showReferences(this.#references, [...this.#shown.values()].flatMap(({ citations }) => citations));
  }
}

const present = (nodes) => nodes.filter(Boolean);

/** @type {(persona: PersonaVerdict, index: number) => [string, PersonaVerdict]} */
const personaField = (persona, index) => [`personas.${index}`, persona];

/** @type {(verdict: JudgeResult) => [string, FieldChecked["value"]][]} */
const fieldsOf = ({ paraphrase, personas, summary }) =>
  [["paraphrase", paraphrase], ...personas.map(personaField), ["summary", summary]];

/** @param {string} name @param {FieldChecked["value"]} value @param {Citation[]} citations */
function elementOf(name, value, citations) {
  if (typeof value === "object") return persona(name, value, citations);
  return name === "summary" ? h("p", { dir: "auto" }, withChips(value, name, citations)) : h("p", { class: "retold", dir: "auto" }, value);
}

/** @param {string} field @param {PersonaVerdict} told @param {Citation[]} citations */
function persona(field, told, citations) {
  const { name, verdict, rationale, key_points: points } = told;
  const headline = ownHeadline(told);
  return h("li", { class: `persona ${(verdict && VERDICT_CLASSES[verdict]) ?? "none"}`, "data-field": field },
    h("div", { class: "says" },
      h("h3", {}, name),
      h("p", { class: "word" }, verdictInWords(verdict)),
    ),
    h("div", { class: "why" },
      headline ? h("p", { class: "headline", dir: "auto" }, headline) : null,
      h("p", { dir: "auto" }, withChips(rationale, `${field}.rationale`, citations)),
      h("ul", { class: "points" }, points.map((point) => h("li", { dir: "auto" }, point))),
    ),
  );
}

/** What to know before the answer: that both sides are told they are right, who can help, and what model answered. @param {JudgeResult} verdict */
function first(verdict) {
  return [warnsOfBoth(verdict) ? banner(verdict.warnings[0]) : null, helpLines(verdict.help), degraded(verdict)];
}

/** @type {(verdict: JudgeResult) => boolean} */
const warnsOfBoth = ({ other_side: other, warnings }) => other?.agrees === false && warnings.length > 0;

/** @param {JudgeResult} verdict @param {Map<string, string>} titles */
function last(verdict, titles) {
  const names = verdict.personas.map(({ name }) => name);
  const evidence = verdict.citations.some(({ contradicts }) => contradicts) ? "contradicted" : verdict.evidence;
  return [
    otherSide(verdict.other_side),
    nextSteps(verdict.next_steps ?? []),
    warnings(verdict.warnings.slice(warnsOfBoth(verdict) ? 1 : 0).filter((warning) => warning !== verdict.other_side?.note), names),
    h("p", { class: `evidence ${evidence}` }, EVIDENCE[evidence]),
    shareButtons(verdict),
    particulars(verdict, titles),
  ];
}

const banner = (words) => h("p", { class: "banner", role: "note" }, words);

/** @param {JudgeResult} verdict */
function degraded({ degraded: isDegraded, personas, model }) {
  if (!isDegraded) return null;
  return banner(personas.some(({ verdict }) => verdict)
    ? `The usual model could not be reached; ${model} stood in for it.`
    : "No language model has judged this. Below, the references are only quoted.");
}

/** @param {OtherSide | null | undefined} other */
function otherSide(other) {
  if (!other) return null;
  return part("The other side", "other",
    other.retelling ? h("p", { class: "hint" }, "The same facts, as the other person might tell them, and what they would be told:") : null,
    other.retelling ? h("blockquote", { dir: "auto" }, other.retelling) : null,
    other.personas.length ? h("ul", {}, other.personas.map(({ name, verdict, rationale }) =>
      h("li", {}, h("strong", {}, `${name}: ${verdictInWords(verdict)}. `), h("bdi", {}, rationale)))) : null,
    other.note ? h("p", {}, other.note) : null,
  );
}

/** @param {NextStep[]} steps */
function nextSteps(steps) {
  if (!steps.length) return null;
  return part("What you can do next", "next",
    h("ul", {}, steps.map(({ title, url }) => h("li", {}, "Read: ", link(url, title || url)))));
}

/** @param {string[]} list @param {string[]} names */
function warnings(list, names) {
  if (!list.length) return null;
  return part("Worth knowing", "warnings", h("ul", {}, list.map((warning) => h("li", { dir: "auto" }, warningInWords(warning, names)))));
}

const part = (title, name, ...children) =>
  h("section", { class: name, "aria-label": title }, h("h3", {}, title), ...children);

/** @param {JudgeResult} verdict @param {Map<string, string>} titles */
function particulars(verdict, titles) {
  const { usage, timings_ms: times } = verdict;
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  const rows = [
    ["Subject", titles.get(verdict.domain) ?? "none that we know"],
    ["Answered by", verdict.model],
    ["Asked", plural(verdict.attempts, "time", "times")],
    ["Time", `${seconds(times.total)}, of which ${seconds(times.references)} for the references`],
    ["Tokens", `${usage.input_tokens} in, ${usage.output_tokens} out, ${usage.thinking_tokens} thinking`],
    ["Number", verdict.id],
  ];
  return h("details", { class: "more" },
    h("summary", {}, "How this answer came about"),
    h("dl", {}, rows.flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)])),
  );
}
