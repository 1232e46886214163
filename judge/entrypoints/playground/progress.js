// The progress of a judgement: its steps so far, and the time elapsed.

import { announce, byId, goTo, h } from "./dom.js";
import { defectInWords, fieldInWords, verdictInWords } from "./wording.js";
import { plural } from "./words.js";

/** @import {DefectDetails, DomainDetected, FieldChecked, ReferencesReady, RestartEvent, Step} from "../../../client/src/client.ts" */

/** The steps of one judgement, as a list that grows until the first field is shown. */
export class Progress {
  #started = performance.now();
  #timer = setInterval(() => this.#tick(), 250);

  /** *hearsBoth*: the other side is heard after the answer. @param {Map<string, string>} titles */
  constructor(titles, hearsBoth) {
    this.titles = titles;
    this.hearsBoth = hearsBoth;
    this.list = byId("steps");
    this.list.replaceChildren();
    byId("progress").hidden = false;
    byId("progress").classList.remove("writing");
    byId("trouble").replaceChildren();
    byId("result").hidden = false;
    this.#tick();
    this.#step("Reading what you wrote");
    goTo(byId("verdict-title"));
  }

  /**
   * Show a step; at a restart, *removed* are the fields that are no longer shown.
   * @param {Exclude<Step, {name: "verdict"}>} step
   * @param {string[]} removed
   */
  follow({ name, data }, removed, isNothingShown) {
    if (name === "domain") this.#domain(data);
    if (name === "references") this.#references(data);
    if (name === "attempt") this.#step(data.number === 1 ? "Thinking it over" : "Thinking it over once more");
    if (name === "field") this.#field(data);
    if (name === "restart") this.#restart(data, removed, isNothingShown);
    if (name === "support") this.#step("Holding each citation against its page");
  }

  finish() {
    clearInterval(this.#timer);
    byId("progress").hidden = true;
  }

  #tick() {
    const seconds = Math.floor((performance.now() - this.#started) / 1000);
    byId("elapsed").textContent = seconds === 1 ? "1 second" : `${seconds} seconds`;
  }

  /** Start a step; the previous one is done. @param {string} words */
  #step(words, ...more) {
    this.list.lastElementChild?.classList.remove("now");
    const item = h("li", { class: "now" }, h("span", {}, words), ...more);
    this.list.append(item);
    announce(item.textContent);
  }

  /** @param {DomainDetected} data */
  #domain({ domain, domain_scores: scores }) {
    const title = this.titles.get(domain);
    const matched = scores.find((score) => score.domain === domain)?.matched ?? [];
    const because = matched.length ? ` You mention ${matched.slice(0, 4).join(", ")}.` : "";
    this.#step(title ? `It is about: ${title}.${because}` : "It is about none of the subjects that we know well.");
    this.#step("Looking for pages that bear on it");
  }

  /** @param {ReferencesReady} data */
  #references({ references }) {
    this.#step(references.length
      ? `${plural(references.length, "reference", "references")} found; you can read them already.`
      : "No page fits.");
  }

  /** @param {FieldChecked} data */
  #field({ name, value }) {
    if (!byId("progress").classList.contains("writing")) {
      byId("progress").classList.add("writing");
      this.#step("Writing the answer; each part is shown when it is checked");
    }
    if (name === "summary" && this.hearsBoth) this.#step("Hearing the other side");
    else announce(typeof value === "object" ? `${value.name}: ${verdictInWords(value.verdict)}.` : `${fieldInWords(name)} is there.`);
  }

  /** No defects: the connection to the model broke, or another model took over. @param {RestartEvent} data */
  #restart({ defects }, removed, isNothingShown) {
    const rest = removed.length ? "; what rests on it is taken away" : isNothingShown ? ", so you are not shown it" : "; what is shown stays";
    if (defects.length) this.#step(`The first answer broke a rule${rest}. It is asked again:`, listOf(defects));
    else this.#step("The answer broke off. It is asked again.");
    this.list.lastElementChild.classList.add("again");
  }
}

/** Each broken rule once, in plain words. @param {DefectDetails[]} defects */
export function listOf(defects) {
  const words = new Set(defects.map((defect) => defectInWords(defect)));
  return h("ul", { class: "defects" }, [...words].map((defect) => h("li", {}, defect)));
}
