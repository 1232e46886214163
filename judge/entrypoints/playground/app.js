// Starts the page: the two tabs, the form, and one judgement at a time.

import { Answer } from "./answer.js";
import { announce, byId, goTo, h } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { startFinder } from "./finder.js";
import { askForKey, showError, showProblem } from "./problems.js";
import { Progress } from "./progress.js";
import { curlFor, forgetKey, judgeInSteps, listDomains, Problem, savedKey } from "./session.js";

/** @import {JudgeRequest, Step} from "../../../client/src/client.ts" */

/** @type {Record<"context" | "query", [number, number]>} */
const LIMITS = { context: [10, 8000], query: [5, 1000] };

/** @type {Map<string, string>} */
const titles = new Map();
/** @type {AbortController | null} */
let current = null;

/** The request that the form describes. */
function readForm() {
  /** @type {JudgeRequest} */
  const request = { context: byId("context").value.trim(), query: byId("query").value.trim() };
  for (const name of /** @type {const} */ (["domain", "scope"])) {
    const value = byId(name).value.trim();
    if (value) request[name] = value;
  }
  if (byId("other-side").checked) request.hear_other_side = true;
  return request;
}

/** What is wrong with the form, by field; the first such field gets the focus. @param {JudgeRequest} request */
function findErrors(request) {
  const errors = [];
  for (const [name, [min, max]] of Object.entries(LIMITS)) {
    const length = Array.from(request[name]).length;
    if (length < min) errors.push([name, length ? `Please write a little more: at least ${min} characters.` : "Please fill this in."]);
    if (length > max) errors.push([name, `This is ${length} characters long; ${max} can be read. Please shorten it.`]);
  }
  return errors;
}

function showErrors(errors) {
  for (const name of ["context", "query", "domain", "scope"]) showError(name, "");
  for (const [name, words] of errors) showError(name, words);
  if (!errors.length) return;
  if (["domain", "scope"].includes(errors[0][0])) byId("more").open = true;
  goTo(byId(errors[0][0]), "center");
  announce(errors.map(([, words]) => words).join(" "));
}

function setBusy(isBusy) {
  byId("submit").disabled = isBusy;
  byId("submit").textContent = isBusy ? "Asking…" : "Ask";
}

async function ask() {
  const request = readForm();
  const errors = findErrors(request);
  showErrors(errors);
  if (errors.length || current) return;
  current = new AbortController();
  setBusy(true);
  const answer = new Answer(titles);
  const progress = new Progress(titles, request.hear_other_side);
  try {
    for await (const step of judgeInSteps(request, current.signal)) follow(step, progress, answer);
  } catch (error) {
    progress.finish();
    fail(error, answer);
  } finally {
    current = null;
    setBusy(false);
  }
}

/**
 * Show one step of the judgement; unknown ones are ignored.
 * @param {Step} step
 * @param {Progress} progress
 * @param {Answer} answer
 */
function follow(step, progress, answer) {
  if (step.name === "references") answer.references(step.data.references);
  if (step.name === "field") answer.field(step.data);
  if (step.name === "verdict") {
    progress.finish();
    answer.finish(step.data);
  } else {
    const removed = step.name === "restart" ? answer.restart(step.data) : [];
    progress.follow(step, removed, answer.isEmpty);
  }
}

/** Show what went wrong; what is shown already stays. @param {any} error @param {Answer} answer */
function fail(error, answer) {
  const place = byId("trouble");
  if (error.name === "AbortError") {
    announce("Stopped.");
    if (!answer.isEmpty) {
      answer.breakOff("You stopped it here");
      return;
    }
    byId("result").hidden = true;
    byId("context").focus();
    return;
  }
  const isWithdrawn = ["invalid-reply", "content-blocked"].includes(error.slug);
  if (isWithdrawn) answer.restart({ defects: [], keeps: [] });
  answer.breakOff("What was written by then");
  if (!(error instanceof Problem)) {
    reportError(error);
    error = new Problem({ type: "unreadable", title: "", detail: "", status: 0, instance: "", error: "" });
  }
  if (error.slug === "unauthorized") {
    byId("result").hidden = answer.isEmpty;
    askForKey(byId("door"), () => keyChanged(ask));
    byId("forget-key").hidden = true;
    return;
  }
  showProblem(error, place, ask, !answer.isEmpty);
  const named = (error.details.errors ?? []).filter(({ field }) => byId("dispute").elements[field]);
  if (named.length) showErrors(named.map(({ field, message }) => [field, `This ${message}.`]));
}

/** Load the list of subjects again, which a key may open, and then go on with *then*. */
async function keyChanged(then = () => {}) {
  try {
    const domains = await listDomains();
    titles.clear();
    for (const { name, title } of domains) titles.set(name, title || name);
    byId("door").replaceChildren();
  } catch (error) {
    // Said before anybody writes. All else works without the titles; asking shows what is wrong.
    if (error instanceof Problem && error.slug === "unauthorized") {
      askForKey(byId("door"), () => keyChanged(then), { isFirst: !savedKey() });
    } else {
      then();
    }
    byId("forget-key").hidden = !savedKey();
    return;
  }
  byId("forget-key").hidden = !savedKey();
  then();
  const [first] = byId("domain").options;
  byId("domain").replaceChildren(
    first,
    ...[...titles].map(([name, title]) => h("option", { value: name }, title)),
    h("option", { value: "default" }, "None of these"),
  );
}

async function copyCurl() {
  const command = curlFor(readForm());
  const shown = byId("curl");
  shown.textContent = command;
  shown.hidden = false;
  try {
    await navigator.clipboard.writeText(command);
    announce("Copied.");
    byId("as-curl").textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(shown);
    announce("The command is shown and selected.");
  }
}

function showTab() {
  const isSearch = location.hash === "#search";
  byId("ask").hidden = isSearch;
  byId("search").hidden = !isSearch;
  for (const [id, isCurrent] of Object.entries({ "tab-ask": !isSearch, "tab-search": isSearch })) {
    if (isCurrent) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
}

function fill({ context, query }) {
  byId("context").value = context;
  byId("query").value = query;
  showErrors([]);
  goTo(byId("context"), "center");
}

function start() {
  byId("examples").append(...EXAMPLES.map((example) =>
    h("button", { type: "button", class: "pill", onclick: () => fill(example) }, example.title)));
  byId("dispute").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  byId("dispute").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
  });
  byId("dispute").addEventListener("input", () => {
    byId("as-curl").textContent = "Copy as a curl command";
    byId("curl").hidden = true;
  });
  byId("stop").addEventListener("click", () => current?.abort());
  byId("as-curl").addEventListener("click", copyCurl);
  byId("forget-key").addEventListener("click", () => {
    forgetKey();
    keyChanged();
    announce("The key is forgotten.");
  });
  addEventListener("hashchange", showTab);
  startFinder(keyChanged);
  showTab();
  keyChanged();
}

start();
