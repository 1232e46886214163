// `<judge-form>`: asks the service that served this script, on pages of any site that it allows.

import type { Citation, FieldChecked, HelpLine, JudgeRequest, JudgeResult, OtherSide, PersonaVerdict, Reference } from "./api.ts";
import { judgeInSteps, Problem } from "./client.ts";
import { ownHeadline, verdictInWords, warningInWords } from "./wording.ts";

type Fields = Map<string, FieldChecked["value"]>;
type Child = Node | string | null | undefined;

const script = document.currentScript ?? document.querySelector('script[src$="/widget.js"]');
/** Where this script is; a proxy may serve it, and the interface, under a path. */
const HOME = new URL(".", script instanceof HTMLScriptElement ? script.src : location.href).href;

/** Shown for a reply that cannot be read. */
const UNREADABLE = { title: "The answer cannot be read", detail: "Try again in a while.", help: [] };

const STYLE = `
:host { display: block; color-scheme: light dark; font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
  --ink: light-dark(#25231e, #ece7db); --soft: light-dark(#5c574c, #b3ac9c); --sheet: light-dark(#fffdf9, #22211d);
  --line: light-dark(#8a8373, #8d8675); --accent: light-dark(#1d5c57, #8fcdc4); --on-accent: light-dark(#fffdf9, #10201f);
  color: var(--ink); background: var(--sheet); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
* { box-sizing: border-box; }
h2, h3, p, ul, ol { margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; line-height: 1.25; } h3 { font-size: 1.05rem; margin-top: 1.1rem; }
h2:focus { outline: none; }
label { display: block; font-weight: 600; margin-top: .8rem; }
textarea { display: block; width: 100%; margin-top: .3rem; padding: .6rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: .4rem; resize: vertical; }
button { margin-top: .9rem; padding: .6rem 1.5rem; font: inherit; font-weight: 600; border: 0; border-radius: .4rem;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.switch { margin: .8rem 0 0; } .switch label { display: inline; margin-left: .5rem; }
.headline { font-weight: 600; }
blockquote { margin: .2rem 0 .6rem; padding-inline-start: .8rem; border-inline-start: 3px solid var(--line); }
.soft { color: var(--soft); font-size: .9rem; }
.care { border-left: 4px solid var(--accent); padding-left: .8rem; }
#result { margin-top: 1.25rem; }
`;

function h(name: string, attributes: Record<string, string>, ...children: Child[]): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...present(children));
  return element;
}

const present = (children: Child[]) => children.filter((child) => child !== null && child !== undefined);

/** A link if *url* is http or https, else *words* alone. */
function link(url: string, words: string): HTMLElement {
  if (!/^https?:/i.test(url)) return h("span", {}, words);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, words);
}

function list(title: string, items: HTMLElement[], attributes = {}): HTMLElement | null {
  if (!items.length) return null;
  const entries = items.map((item) => h("li", {}, item));
  return h("section", attributes, h("h3", {}, title), h("ul", {}, ...entries));
}

function persona(told: PersonaVerdict): HTMLElement {
  const headline = ownHeadline(told);
  const entries = told.key_points.map((point) => h("li", { dir: "auto" }, point));
  return h("section", {}, h("h3", {}, `${told.name}: ${verdictInWords(told.verdict)}`),
    headline ? h("p", { dir: "auto", class: "headline" }, headline) : null,
    h("p", { dir: "auto" }, told.rationale), h("ul", {}, ...entries));
}

function otherSide(other: OtherSide | null | undefined): HTMLElement | null {
  if (!other) return null;
  const entries = other.personas.map(({ name, verdict, rationale }) => h("li", {}, h("strong", {}, `${name}: ${verdictInWords(verdict)}. `), h("bdi", {}, rationale)));
  return h("section", {}, h("h3", {}, "The other side"),
    other.retelling ? h("p", { class: "soft" }, "The same facts, as the other person might tell them, and what they would be told:") : null,
    other.retelling ? h("blockquote", { dir: "auto" }, other.retelling) : null,
    entries.length ? h("ul", {}, ...entries) : null,
    other.note ? h("p", {}, other.note) : null);
}

/** A reference that is cited, with the sentences that the answer rests on. */
function reference({ number, url, title, updated, stale }: Reference, citations: Citation[]): HTMLElement {
  const quotes = new Set(citations.filter((citation) => citation.number === number).map(({ quote }) => quote));
  const facts = [updated ? `updated ${updated}` : "", stale ? "could not be fetched anew" : ""].filter(Boolean);
  const age = facts.length ? h("span", { class: "soft" }, ` (${facts.join("; ")})`) : null;
  return h("div", {}, `[${number}] `, link(url, title || url), age,
    ...[...quotes].map((quote) => quote ? h("blockquote", { dir: "auto" }, `“${quote}”`) : null));
}

function helpLine({ title, url, phone }: HelpLine): HTMLElement {
  return h("span", {}, link(url, title), phone ? ` ${phone}` : null);
}

/** The answer so far, in reading order. */
function fieldNodes(fields: Fields): Child[] {
  const texts = [fields.get("paraphrase"), fields.get("summary")].filter((text) => typeof text === "string");
  const verdicts = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value).filter((value) => typeof value !== "string");
  return [...texts.map((text) => h("p", { dir: "auto" }, text)), ...verdicts.map(persona)];
}

function fieldsOf({ paraphrase, summary, personas }: JudgeResult): Fields {
  const verdicts = personas.map((persona, index): [string, PersonaVerdict] => [`personas.${index}`, persona]);
  return new Map<string, FieldChecked["value"]>([["paraphrase", paraphrase], ["summary", summary], ...verdicts]);
}

/** The final verdict: what to know first, then the answer, then its references. */
function answer(verdict: JudgeResult): Child[] {
  const names = verdict.personas.map(({ name }) => name);
  const warnings = verdict.warnings.filter((warning) => warning !== verdict.other_side?.note);
  return [
    list("Who can help", verdict.help.map(helpLine), { class: "care" }),
    list("Worth knowing", warnings.map((warning) => h("bdi", {}, warningInWords(warning, names))), { class: "care" }),
    ...fieldNodes(fieldsOf(verdict)),
    otherSide(verdict.other_side),
    list("What it rests on", verdict.references.filter(({ cited }) => cited).map((one) => reference(one, verdict.citations))),
    list("What you can do next", (verdict.next_steps ?? []).map(({ title, url }) => h("span", {}, "Read: ", link(url, title)))),
    h("p", { class: "soft" }, "Food for thought, not legal or medical advice."),
  ];
}

/**
 * A form and its answer. Attributes: `heading`; `domain`, when the site has one subject; `other-side`,
 * to offer that it is heard; `server`; `key`, which every visitor of the site can read.
 */
class JudgeForm extends HTMLElement {
  #context = h("textarea", { id: "context", dir: "auto", rows: "5", required: "", minlength: "10", maxlength: "8000" }) as HTMLTextAreaElement;
  #query = h("textarea", { id: "query", dir: "auto", rows: "2", required: "", minlength: "5", maxlength: "1000" }) as HTMLTextAreaElement;
  #other = h("input", { id: "other-side", type: "checkbox", role: "switch" }) as HTMLInputElement;
  #status = h("p", { role: "status", class: "soft" });
  #result = h("div", { id: "result", role: "group", "aria-labelledby": "title" });
  #current: AbortController | null = null;

  connectedCallback(): void {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    root.adoptedStyleSheets = [style];
    const form = h("form", { "aria-labelledby": "title" },
      h("h2", { id: "title" }, this.getAttribute("heading") ?? "Am I being unreasonable?"),
      h("label", { for: "context" }, "What happened?"), this.#context,
      h("label", { for: "query" }, "What would you like to know?"), this.#query,
      this.hasAttribute("other-side")
        ? h("p", { class: "switch" }, this.#other, h("label", { for: "other-side" }, "Hear the other side too"))
        : null,
      h("button", {}, "Ask"),
      h("p", { class: "soft" }, `What you write is sent to ${this.#server?.host ?? "nobody"}, read to answer you, and not stored.`));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#ask();
    });
    root.append(form, this.#status, this.#result);
  }

  disconnectedCallback(): void {
    this.#current?.abort();
    this.#status.textContent = "";
  }

  /** The address of the service; null if the attribute is not a URL, to send no dispute there. */
  get #server(): URL | null {
    const named = this.getAttribute("server") ?? HOME;
    return /^https?:/i.test(named) && URL.canParse(named) ? new URL(named) : null;
  }

  async #ask(): Promise<void> {
    this.#current?.abort();
    const current = (this.#current = new AbortController());
    const domain = this.getAttribute("domain");
    const hearsOtherSide = this.#other.checked;
    const request: JudgeRequest = { context: this.#context.value, query: this.#query.value, hear_other_side: hearsOtherSide, ...(domain ? { domain } : {}) };
    const options = { baseUrl: this.#server?.href.replace(/\/+$/, "") ?? "https://[", key: this.getAttribute("key") ?? "", signal: current.signal };
    const fields: Fields = new Map();
    this.#result.replaceChildren();
    this.#status.textContent = "Looking into it…";
    try {
      for await (const step of judgeInSteps(request, options)) {
        if (step.name === "references") this.#status.textContent = `Thinking it over, with ${step.data.references.length} pages at hand…`;
        if (step.name === "field") fields.set(step.data.name, step.data.value);
        if (step.name === "field" && step.data.name === "summary" && hearsOtherSide) this.#status.textContent = "Hearing the other side…";
        if (step.name === "restart") for (const name of fields.keys()) if (!step.data.keeps.includes(name)) fields.delete(name);
        if (step.name === "field" || step.name === "restart") this.#result.replaceChildren(...present(fieldNodes(fields)));
        if (step.name === "verdict") this.#show("What we make of it", answer(step.data));
      }
    } catch (error) {
      if (current.signal.aborted) return;
      const isKnown = error instanceof Problem;
      if (!isKnown) reportError(error);
      const { title, detail, help = [] } = isKnown ? error.details : UNREADABLE;
      const problem = [h("p", {}, detail), list("Who can help", help.map(helpLine), { class: "care" })];
      const slug = isKnown ? error.slug : "unreadable";
      if (slug === "offline") this.#nameTheSetting();
      // What a failed check rejects is withdrawn; what was checked before a connection broke stays.
      const stays = !["unreadable", "invalid-reply", "content-blocked"].includes(slug);
      this.#show(title, [...problem, ...(stays ? fieldNodes(fields) : [])]);
    }
  }

  /** A refused origin looks like a lost connection; only the console of whoever runs the site says more. */
  #nameTheSetting(): void {
    const server = this.#server;
    if (!server || server.origin === location.origin) return;
    console.warn(`judge-form: if ${server.host} can be reached, it does not allow pages of ${location.origin}: `
      + "whoever runs it can name that origin in JUDGE_CORS_ORIGINS.");
  }

  #show(title: string, children: Child[]): void {
    const heading = h("h2", { tabindex: "-1" }, title);
    this.#result.replaceChildren(heading, ...present(children));
    this.#status.textContent = "";
    heading.focus();
  }
}

if (!customElements.get("judge-form")) customElements.define("judge-form", JudgeForm);
