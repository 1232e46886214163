// Joins what is said to what it rests on: chips in the text, marked words in the references.

import { announce, byId, goTo, h, link } from "./dom.js";
import { ago, day, plural } from "./words.js";

const STATUSES = {
  verified: "quotation found on the page",
  repaired: "quotation found on the page, nearly word for word",
  unverified: "quotation not found on the page",
  none: "without a quotation",
};

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
  const status = STATUSES[citation.quote_status];
  const made = h("button", {
    type: "button",
    class: `cite ${citation.quote_status}`,
    "data-number": citation.number,
    "aria-label": `Reference ${citation.number}, ${status}`,
    title: citation.quote ? `“${citation.quote}”` : status,
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

/** Show *references*, with the words that *citations* quote marked in them. */
export function showReferences(references, citations = []) {
  byId("sources").hidden = references.length === 0;
  byId("references").replaceChildren(
    ...references.map((one) => entry(one, citations.filter((c) => c.number === one.number))),
  );
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
      h("time", { datetime: reference.fetched_at, title: day(reference.fetched_at) },
        `${isPage ? "fetched" : "added"} ${ago(reference.fetched_at)}`),
      reference.stale ? h("span", { class: "badge stale" }, "May be out of date") : null,
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
  const found = quotes.map((quote) => patternFor(quote).exec(text)).filter(Boolean)
    .map((match) => [match.index, match.index + match[0].length])
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

/** Finds *quote* whatever its white space, quotation marks and dashes look like. */
function patternFor(quote) {
  const words = quote.trim().split(/\s+/).map((word) =>
    word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
      .replace(/['‘’‚‛′`´ʼ]/g, "['‘’‚‛′`´ʼ]")
      .replace(/["“”„‟″«»]/g, "[\"“”„‟″«»]")
      .replace(/[-‐‑‒–—―−]/g, "[-‐‑‒–—―−]"));
  return new RegExp(words.join("\\s+"), "i");
}
