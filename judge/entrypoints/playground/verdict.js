// Shows how a judgement goes on, and what it ends in.

import { showCited, showReferences, withChips } from "./citations.js";
import { announce, byId, goTo, h, link } from "./dom.js";
import { defectInWords, plural, problemInWords, warningInWords } from "./words.js";

const EVIDENCE = {
  grounded: "Every citation names what it rests on, and shows it in the words of the page.",
  unverified: "Some citations name no sentence that they rest on.",
  missing: "The answer should rest on the references, and does not.",
  contradicted: "Something here says the opposite of what it cites; it is marked. Go by the page.",
  not_applicable: "Pages were looked at, and none bears on this dispute, so nothing is cited: this answer is the model’s own view.",
  none: "No page was used: this answer is the model’s own view.",
};

const VERDICT_CLASSES = { Yes: "yes", No: "no", Partially: "partially" };

/** The steps of one judgement, in a list that grows. */
export class Progress {
  constructor(titles) {
    this.titles = titles;
    this.list = byId("steps");
    this.list.replaceChildren();
    byId("progress").hidden = false;
    byId("progress").classList.add("busy");
    byId("progress-title").textContent = "Looking into it";
    byId("outcome").replaceChildren();
    byId("result").hidden = false;
    showReferences([]);
    this.step("Reading what you wrote");
  }

  /** Begin a step; the one before is done. */
  step(words, ...more) {
    this.list.lastElementChild?.classList.remove("now");
    const item = h("li", { class: "now" }, h("span", {}, words), ...more);
    this.list.append(item);
    announce(item.textContent);
  }

  domain({ domain, domain_scores: scores }) {
    const title = this.titles.get(domain);
    const matched = scores.find((score) => score.domain === domain)?.matched ?? [];
    const because = matched.length ? ` You mention ${matched.slice(0, 4).join(", ")}.` : "";
    this.step(title ? `It is about: ${title}.${because}` : "It is about none of the subjects that we know well.");
    this.step("Looking for pages that bear on it");
  }

  references({ references }) {
    showReferences(references);
    this.step(references.length
      ? `${plural(references.length, "reference", "references")} found; you can read them already.`
      : "No page fits.");
  }

  attempt({ number }) {
    this.step(number === 1 ? "Thinking it over" : "Thinking it over once more");
  }

  restart({ defects }) {
    this.step("The first answer broke a rule, so you are not shown it. It is asked again:", listOf(defects));
    this.list.lastElementChild.classList.add("again");
  }

  /** Leave the steps to be looked at by whoever wants to. */
  finish() {
    byId("progress").classList.remove("busy");
    this.list.lastElementChild?.classList.remove("now");
    byId("progress").hidden = true;
  }
}

/** Each broken rule once, in plain words. */
function listOf(defects) {
  const words = new Set(defects.map((defect) => defectInWords(defect)));
  return h("ul", { class: "defects" }, [...words].map((one) => h("li", {}, one)));
}

/** Show the verdict and bring the reader to it. */
export function showVerdict(verdict, titles) {
  const names = verdict.personas.map((persona) => persona.name);
  const evidence = verdict.citations.some((one) => one.contradicts) ? "contradicted" : verdict.evidence;
  showCited(verdict.references, verdict.citations);
  const heading = h("h2", { id: "verdict-title", tabindex: "-1" }, "What we make of it");
  byId("outcome").replaceChildren(
    ...[
      heading,
      helpLines(verdict.help),
      degraded(verdict),
      h("p", { class: "retold" }, verdict.paraphrase),
      h("p", { class: "summary" }, withChips(verdict.summary, "summary", verdict.citations)),
      h("ul", { class: "personas" }, verdict.personas.map((p, i) => persona(p, i, verdict.citations))),
      warnings(verdict.warnings, names),
      h("p", { class: `evidence ${evidence}` }, EVIDENCE[evidence]),
      particulars(verdict, titles),
    ].filter(Boolean),
  );
  announce("The answer is here.");
  goTo(heading);
}

function persona({ name, verdict, rationale, key_points: points }, index, citations) {
  const word = verdict ?? "No verdict";
  return h("li", { class: `persona ${VERDICT_CLASSES[verdict] ?? "none"}` },
    h("div", { class: "says" },
      h("h3", {}, name),
      h("p", { class: "word" }, word),
    ),
    h("div", { class: "why" },
      h("p", {}, withChips(rationale, `personas.${index}.rationale`, citations)),
      h("ul", { class: "points" }, points.map((point) => h("li", {}, point))),
    ),
  );
}

/** Somebody to turn to, gently and first of all. */
export function helpLines(lines) {
  if (!lines?.length) return null;
  return h("section", { class: "help", "aria-labelledby": "help-title" },
    h("h3", { id: "help-title" }, "Who can help"),
    h("p", {}, "People and places to turn to with this:"),
    h("ul", {}, lines.map(({ title, url, phone }) => h("li", {},
      link(url, title),
      phone ? h("a", { class: "phone", href: `tel:${phone.replace(/[^\d+]/g, "")}` }, phone) : null,
    ))),
  );
}

function degraded({ degraded: is, personas, model }) {
  if (!is) return null;
  const words = personas.some((one) => one.verdict)
    ? `The usual model could not be reached; ${model} stood in for it.`
    : "No language model has judged this. Below, the references are only quoted.";
  return h("p", { class: "banner", role: "note" }, words);
}

function warnings(list, names) {
  if (!list.length) return null;
  return h("section", { class: "warnings", "aria-labelledby": "warnings-title" },
    h("h3", { id: "warnings-title" }, "Worth knowing"),
    h("ul", {}, list.map((warning) => h("li", {}, warningInWords(warning, names)))),
  );
}

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

/** Where the same words may get another answer. */
const WORTH_ANOTHER_TRY = new Set(
  ("rate-limited invalid-reply model-unavailable index-unavailable deadline-exceeded internal-error " +
    "offline interrupted unreadable").split(" "),
);

/** Show what went wrong as a person would say it; *again* tries once more. */
export function showProblem(problem, place, again) {
  const { title, advice } = problemInWords(problem);
  const { detail, defects = [], help, valid = [], request_id: id } = problem.details;
  const heading = h("h2", { tabindex: "-1" }, title);
  place.replaceChildren(h("section", { class: "problem", role: "alert" },
    ...[
      heading,
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

/** Ask for a key, keep it for this tab, and go on with *then*. */
export function askForKey(place, wasRefused, then) {
  const field = h("input", { id: "key", type: "password", autocomplete: "off", "aria-describedby": "key-hint" });
  const form = h("form", { class: "problem", "aria-labelledby": "key-title" },
    h("h2", { id: "key-title" }, wasRefused ? "That key was not accepted" : "A key is needed here"),
    h("p", { id: "key-hint" }, "Whoever runs this service can give you one. It is kept for this tab only, and forgotten when you close it."),
    h("label", { for: "key" }, "API key"),
    h("div", { class: "row" }, field, h("button", { type: "submit", class: "main-button" }, "Use this key")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) then(field.value.trim());
  });
  place.replaceChildren(form);
  announce("This service asks for a key.");
  goTo(field, "center");
}
