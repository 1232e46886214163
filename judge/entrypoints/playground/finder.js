// The search tab: a query with scopes, and the passages found.

import { Problem, search } from "./session.js";
import { announce, byId, goTo, h, link } from "./dom.js";
import { askForKey, showError, showProblem } from "./problems.js";
import { day, plural } from "./words.js";

/** @import {SearchResponse} from "../../../client/src/client.ts" */

/** @type {[string, string][]} */
const SCOPES = [
  ["@collection:", "a collection"],
  ["@folder:", "a folder"],
  ["@tag:", "a tag"],
  ["@document:", "a document"],
  ["@modified:last-week", "the last week"],
  ["-@collection:", "all but a collection"],
];

/** Set up the tab; *keyChanged* is called after the key has changed. */
export function startFinder(keyChanged) {
  byId("scopes").append(...SCOPES.map(([scope, words]) =>
    h("button", { type: "button", class: "pill", title: scope, onclick: () => insert(scope) }, words)));
  byId("finder").addEventListener("submit", (event) => {
    event.preventDefault();
    find(keyChanged);
  });
}

function insert(scope) {
  const field = byId("q");
  field.value = `${field.value.trim()} ${scope}`.trim();
  field.focus();
}

/** Counts searches, so that a result that arrives after a later search began is not shown. */
let searches = 0;

async function find(keyChanged) {
  const query = byId("q").value.trim();
  showError("q", query ? "" : "Say what to look for.");
  if (!query) {
    byId("q").focus();
    return;
  }
  const place = byId("found");
  place.replaceChildren(h("p", { class: "hint" }, "Searching…"));
  searches += 1;
  const mine = searches;
  try {
    const found = await search(query);
    if (mine === searches) showFound(found, place);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (mine !== searches) return;
    const again = () => find(keyChanged);
    if (problem.slug === "unauthorized") {
      place.replaceChildren();
      askForKey(byId("door"), () => keyChanged(again));
    } else {
      showProblem(problem, place, again);
    }
  }
}

/** @param {SearchResponse} found @param {HTMLElement} place */
function showFound({ chunks, total_found: total, search_time_ms: ms, hint, context }, place) {
  const shown = chunks.length < total ? `, the best ${chunks.length} shown` : "";
  const words = total ? `${plural(total, "passage", "passages")} found${shown}` : "Nothing was found";
  const heading = h("h2", { tabindex: "-1" }, words);
  place.replaceChildren(
    heading,
    h("p", { class: "hint" }, [context ? `Looked in ${context}` : "", ms === undefined ? "" : `${Math.round(ms)} ms`].filter(Boolean).join(" · ")),
    ...(hint ? [h("p", { class: "banner", role: "note" }, hint)] : []),
    h("ol", { class: "hits" }, chunks.map(hit)),
  );
  announce(`${words}. ${hint ?? ""}`);
  goTo(heading);
}

/** @param {SearchResponse["chunks"][number]} found */
function hit({ text, highlight, document_title: title, collection_name: collection, metadata }) {
  /** @type {Record<string, any>} */
  const about = metadata ?? {};
  const lines = about.start_line ? `lines ${about.start_line} to ${about.end_line}` : null;
  const path = about.path === title ? null : about.path;
  const isWhole = text === (highlight ?? "").replaceAll("**", "");
  const facts = [collection, path, lines, about.modified ? `changed ${day(about.modified)}` : null];
  return h("li", { class: "hit" },
    h("h3", {}, link(about.source_url ?? "", title)),
    h("p", { class: "highlight" }, withMarks(highlight || text)),
    h("p", { class: "age" }, facts.filter(Boolean).map((fact) => h("span", {}, fact)),
      (about.tags ?? []).map((tag) => h("span", { class: "badge" }, tag))),
    isWhole ? null
      : h("details", { class: "more" }, h("summary", {}, "The whole passage"), h("p", { class: "passage" }, text)),
  );
}

/** *text* with what is between pairs of `**` marked. */
function withMarks(text) {
  return text.split("**").map((part, index, all) =>
    index % 2 && index < all.length - 1 ? h("mark", {}, part) : part);
}
