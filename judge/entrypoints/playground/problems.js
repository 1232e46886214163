// Shows what went wrong in plain words, and asks for a key.

import { announce, byId, goTo, h, link } from "./dom.js";
import { listOf } from "./progress.js";
import { forgetKey, saveKey, savedKey } from "./session.js";
import { problemInWords } from "./words.js";

/** @import {HelpLine, Problem} from "../../../client/src/client.ts" */

/** Show *words* beside the field called *name*; none if it is all right. @param {string} name @param {string} words */
export function showError(name, words) {
  const field = byId(name);
  byId(`${name}-error`).textContent = words;
  if (words) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

/** The help lines as a section, or null. @param {HelpLine[] | undefined} lines */
export function helpLines(lines) {
  if (!lines?.length) return null;
  return h("section", { class: "help", "aria-label": "Who can help" },
    h("h3", {}, "Who can help"),
    h("p", {}, "People and places to turn to with this:"),
    h("ul", {}, lines.map(({ title, url, phone }) => h("li", {},
      link(url, title),
      phone ? h("a", { class: "phone", href: `tel:${phone.replace(/[^\d+]/g, "")}` }, phone) : null,
    ))),
  );
}

/** Problems for which the same request may succeed later. */
const WORTH_ANOTHER_TRY = new Set(
  ("rate-limited invalid-reply model-unavailable index-unavailable deadline-exceeded internal-error " +
    "offline interrupted unreadable").split(" "),
);

/**
 * Show *problem* in *place*; *again* retries. *isPart*: part of the answer is already shown.
 * @param {Problem} problem
 * @param {HTMLElement} place
 * @param {() => void} again
 */
export function showProblem(problem, place, again, isPart = false) {
  const { title, advice } = problemInWords(problem);
  const { detail, defects = [], help, valid = [], request_id: id } = problem.details;
  const heading = h("h2", { tabindex: "-1" }, title);
  place.replaceChildren(h("section", { class: "problem", role: "alert" },
    ...[
      heading,
      isPart ? h("p", {}, "What was checked by then stays above. It is not the whole answer.") : null,
      advice ? h("p", {}, advice) : null,
      problem.slug === "bad-scope" || problem.slug === "unreadable" ? h("p", {}, detail) : null,
      valid.length ? h("p", {}, `You can use: ${valid.join(", ")}.`) : null,
      helpLines(help),
      defects.length
        ? h("details", {}, h("summary", {}, "What was wrong with it"),
            listOf(defects))
        : null,
      id ? h("p", { class: "hint" }, `Number of the request: ${id}`) : null,
      WORTH_ANOTHER_TRY.has(problem.slug)
        ? h("button", { type: "button", class: "main-button", onclick: again }, "Try again")
        : null,
    ].filter(Boolean),
  ));
  goTo(heading);
}

/** Ask for a key, or another one after a refusal; keep it for this tab, and call *again*. */
export function askForKey(place, again, { isFirst = false } = {}) {
  const wasRefused = Boolean(savedKey());
  forgetKey();
  const field = /** @type {HTMLInputElement} */ (h("input", { id: "key", type: "password", autocomplete: "off", "aria-describedby": "key-hint" }));
  const form = h("form", { class: "problem", "aria-labelledby": "key-title" },
    h("h2", { id: "key-title" }, wasRefused ? "That key was not accepted" : "A key is needed here"),
    h("p", { id: "key-hint" }, "Whoever runs this service can give you one. It is kept for this tab only, and forgotten when you close it."),
    h("label", { for: "key" }, "API key"),
    h("div", { class: "row" }, field, h("button", { type: "submit", class: "main-button" }, "Use this key")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    saveKey(field.value.trim());
    place.replaceChildren();
    again();
  });
  place.replaceChildren(form);
  announce("This service asks for a key.");
  if (!isFirst) goTo(field, "center");
}
