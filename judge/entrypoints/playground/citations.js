// Links claims to their evidence: numbered chips in the text, marked quotes in the references.

import { announce, byId, goTo, h, link } from "./dom.js";
import { ago, day, plural } from "./words.js";

/** @import {Citation, Reference} from "../../../client/src/client.ts" */

const STATUSES = {
  verified: "the sentence it rests on is marked there",
  none: "no sentence of it is named",
  contradicts: "which says the opposite",
};

/** @type {(citation: Citation) => keyof typeof STATUSES} */
const statusOf = (citation) => (citation.contradicts ? "contradicts" : citation.quote_status);

/** *text* with a chip for each number it cites; offsets count code points. @param {string} text @param {string} field @param {Citation[]} citations */
export function withChips(text, field, citations) {
  const points = Array.from(text);
  /** @type {Map<string, [Citation, ...Citation[]]>} */
  const spans = new Map();
  for (const citation of citations.filter((c) => c.field === field)) {
    const key = `${citation.start}-${citation.end}`;
    spans.set(key, [...(spans.get(key) ?? []), citation]);
  }
  const nodes = [];
  let position = 0;
  for (const group of [...spans.values()].sort((a, b) => a[0].start - b[0].start)) {
    const before = points.slice(position, group[0].start).join("");
    const [, rest = "", word = ""] = LAST_WORD.exec(before) ?? [];
    const [, after = ""] = CLOSING.exec(points.slice(group[0].end).join("")) ?? [];
    nodes.push(rest, h("span", { class: "tie" }, word.replace(/\s+$/, "\u00a0"), group.map(chip), after));
    position = group[0].end + Array.from(after).length;
  }
  return [...nodes, points.slice(position).join("")];
}

// What stays on one line with a citation: the word before it, unless that is very long, and the
// punctuation after it.
const LAST_WORD = /^(.*?)((?:(?<=^|\s)\S{1,20}\s*)?)$/s;
const CLOSING = /^([.,;:!?)\]’”"']*)/;

/** @param {Citation} citation */
function chip(citation) {
  const status = statusOf(citation);
  const button = h("button", {
    type: "button",
    class: `cite ${status}`,
    "data-number": citation.number,
    "aria-label": `Reference ${citation.number}, ${STATUSES[status]}`,
    title: citation.quote ? `“${citation.quote}”` : STATUSES[status],
    onclick: () => highlight(citation, button),
  }, String(citation.number));
  return button;
}

/** The highlighted reference, and the chip that led to it. @type {{number: number, from: HTMLElement} | null} */
let highlighted = null;

/** Highlight the reference of *citation* and all chips that cite it, and scroll to it. @param {Citation} citation @param {HTMLElement} from */
function highlight(citation, from) {
  highlighted = { number: citation.number, from };
  showHighlight();
  goTo(byId(`reference-${citation.number}`), "nearest");
  announce(`Reference ${citation.number}. ${citation.quote ? `Quoted: ${citation.quote}` : ""}`);
}

function showHighlight() {
  for (const old of document.querySelectorAll(".lit")) old.classList.remove("lit");
  if (!highlighted) return;
  const reference = byId(`reference-${highlighted.number}`);
  const chips = document.querySelectorAll(`.cite[data-number="${highlighted.number}"]`);
  for (const element of [...chips, reference]) element?.classList.add("lit");
  const back = reference?.querySelector(".back");
  if (!back) return;
  back.hidden = false;
  const { from } = highlighted;
  back.onclick = () => goTo(from, "center");
}

/**
 * Show *references*, with the quotes of *citations* marked in them. Once the answer is whole, the
 * references that are cited come first and the others are folded away.
 */
export function showReferences(/** @type {Reference[]} */ references, /** @type {Citation[]} */ citations = [], isWhole = false) {
  const shown = references.filter(({ cited }) => !isWhole || cited);
  const others = references.filter((reference) => !shown.includes(reference));
  const focused = document.activeElement?.closest(".reference")?.id;
  if (!references.length) highlighted = null;
  byId("sources").hidden = !references.length;
  byId("references").hidden = !shown.length;
  byId("references").replaceChildren(
    ...shown.map((reference) => entry(reference, citations.filter((c) => c.number === reference.number))),
  );
  byId("unused").hidden = !others.length;
  byId("unused").open = false;
  byId("unused-count").textContent = others.length;
  byId("unused-references").replaceChildren(...others.map((reference) => entry(reference, [])));
  showHighlight();
  if (focused) byId(focused)?.focus({ preventScroll: true });
}

function entry(reference, citations) {
  const quotes = citations.map((citation) => citation.quote).filter(Boolean);
  return h("li", { id: `reference-${reference.number}`, class: "reference", tabindex: "-1" },
    h("p", { class: "reference-head" },
      h("span", { class: "number", "aria-hidden": "true" }, String(reference.number)),
      h("span", { class: "reference-title" }, link(reference.url, reference.title || reference.url)),
    ),
    h("blockquote", { dir: "auto" }, marked(reference.text, quotes)),
    h("p", { class: "age" }, agesOf(reference),
      citations.some((c) => c.contradicts) ? h("span", { class: "badge contradicts" }, "The answer says the opposite") : null,
      citations.length ? h("span", {}, `cited ${plural(citations.length, "time", "times")}`) : null,
    ),
    h("button", { type: "button", class: "quiet back", hidden: true }, "Back to the text"),
  );
}

/** Where the text is from, the publisher's date, and how old our copy is. @param {Reference} reference */
function agesOf({ kind, url, updated, fetched_at: fetched, stale }) {
  const isPage = kind === "page";
  return [
    h("span", {}, isPage ? host(url) : "From your documents"),
    updated ? h("time", { datetime: updated }, `updated ${day(updated)}`) : null,
    isPage && !updated ? h("span", {}, "the publisher gives no date") : null,
    h("time", { datetime: fetched, title: day(fetched) }, `${isPage ? "fetched" : "added"} ${ago(fetched)}`),
    stale ? h("span", { class: "badge stale" }, `May be out of date: it could not be fetched since ${day(fetched)}`) : null,
  ];
}

function host(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** *text* with each of *quotes* marked. */
export function marked(text, quotes) {
  const found = quotes.map((quote) => [text.indexOf(quote), quote.length])
    .filter(([start]) => start >= 0)
    .map(([start, length]) => [start, start + length])
    .sort((a, b) => a[0] - b[0]);
  const nodes = [];
  let position = 0;
  for (const [start, end] of found) {
    if (end <= position) continue;
    const from = Math.max(start, position);
    nodes.push(text.slice(position, from), h("mark", {}, text.slice(from, end)));
    position = end;
  }
  return [...nodes, text.slice(position)];
}
