// Joins what is said to what it rests on: chips in the text, marked words in the references.

import { announce, byId, goTo, h, link } from "./dom.js";
import { ago, day, plural } from "./words.js";

const STATUSES = {
  verified: "the sentence it rests on is marked there",
  none: "no sentence of it is named",
  contradicts: "which says the opposite",
};

const statusOf = (citation) => (citation.contradicts ? "contradicts" : citation.quote_status);

/** *text* with a chip for each number it cites; offsets count code points. */
export function withChips(text, field, citations) {
  const points = Array.from(text);
  const spans = new Map();
  for (const citation of citations.filter((one) => one.field === field)) {
    const key = `${citation.start}-${citation.end}`;
    spans.set(key, [...(spans.get(key) ?? []), citation]);
  }
  const nodes = [];
  let position = 0;
  for (const group of [...spans.values()].sort((a, b) => a[0].start - b[0].start)) {
    const before = points.slice(position, group[0].start).join("");
    const [, rest, word] = LAST_WORD.exec(before);
    const [, after] = CLOSING.exec(points.slice(group[0].end).join(""));
    nodes.push(rest, h("span", { class: "tie" }, word.replace(/\s+$/, "\u00a0"), group.map(chip), after));
    position = group[0].end + Array.from(after).length;
  }
  return [...nodes, points.slice(position).join("")];
}

// What stays on one line with a citation: the word before it, unless that is very long, and the
// marks after it.
const LAST_WORD = /^(.*?)((?:(?<=^|\s)\S{1,20}\s*)?)$/s;
const CLOSING = /^([.,;:!?)\]’”"']*)/;

function chip(citation) {
  const status = statusOf(citation);
  const made = h("button", {
    type: "button",
    class: `cite ${status}`,
    "data-number": citation.number,
    "aria-label": `Reference ${citation.number}, ${STATUSES[status]}`,
    title: citation.quote ? `“${citation.quote}”` : STATUSES[status],
    onclick: () => light(citation, made),
  }, String(citation.number));
  return made;
}

/** Light the reference of *citation* and all chips that cite it, and go there. */
function light(citation, from) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  const reference = byId(`reference-${citation.number}`);
  const chips = document.querySelectorAll(`.cite[data-number="${citation.number}"]`);
  for (const one of [...chips, reference]) one.classList.add("lit");
  const back = reference.querySelector(".back");
  back.hidden = false;
  back.onclick = () => goTo(from, "center");
  goTo(reference, "nearest");
  announce(`Reference ${citation.number}. ${citation.quote ? `Quoted: ${citation.quote}` : ""}`);
}

/** Show *references*, all of them alike: nothing is known yet of what will be cited. */
export function showReferences(references) {
  fillReferences(references, [], []);
}

/** Show the *references* that are cited, their sentences marked, and the others folded. */
export function showCited(references, citations) {
  const [cited, others] = [true, false].map((is) => references.filter((one) => one.cited === is));
  fillReferences(cited, others, citations);
}

function fillReferences(shown, others, citations) {
  byId("sources").hidden = shown.length + others.length === 0;
  byId("references").hidden = shown.length === 0;
  byId("references").replaceChildren(
    ...shown.map((one) => entry(one, citations.filter((c) => c.number === one.number))),
  );
  byId("unused").hidden = others.length === 0;
  byId("unused").open = false;
  byId("unused-count").textContent = others.length;
  byId("unused-references").replaceChildren(...others.map((one) => entry(one, [])));
}

function entry(reference, citations) {
  const isPage = reference.kind === "page";
  const quotes = citations.map((citation) => citation.quote).filter(Boolean);
  return h("li", { id: `reference-${reference.number}`, class: "reference", tabindex: "-1" },
    h("p", { class: "reference-head" },
      h("span", { class: "number", "aria-hidden": "true" }, String(reference.number)),
      h("span", { class: "reference-title" }, link(reference.url, reference.title || reference.url)),
    ),
    h("blockquote", {}, marked(reference.text, quotes)),
    h("p", { class: "age" },
      h("span", {}, isPage ? host(reference.url) : "From your documents"),
      reference.updated ? h("time", { datetime: reference.updated }, `updated ${day(reference.updated)}`) : null,
      h("time", { datetime: reference.fetched_at, title: day(reference.fetched_at) },
        `${isPage ? "fetched" : "added"} ${ago(reference.fetched_at)}`),
      reference.stale ? h("span", { class: "badge stale" }, "May be out of date") : null,
      citations.some((c) => c.contradicts) ? h("span", { class: "badge contradicts" }, "The answer says the opposite") : null,
      citations.length ? h("span", {}, `cited ${plural(citations.length, "time", "times")}`) : null,
    ),
    h("button", { type: "button", class: "quiet back", hidden: true }, "Back to the text"),
  );
}

function host(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** *text* with each of *quotes* marked where it stands. */
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
