// @ts-nocheck Written by `make docs` from client/src/client.ts and wording.ts and widget.ts, where its types are checked.
(() => {
// A client for browsers, Node, Deno and Bun, with nothing but fetch.

/** The address of the service, and the API key. Aborting `signal` also ends the call of the model. */

/** A step of a judgement; the last one is the verdict. */

/** How long a stream may be silent: the service promises something every 10 seconds. */
const SILENCE_MS = 30_000;

/** An error of the service, or on the way to it, as problem details (RFC 9457). */
class Problem extends Error {
           details;
  /** The last part of `type`: one of the service's, or `offline`, `interrupted`, `unreadable`. */
           slug;
  /** Seconds after which trying again makes sense. */
           retryAfter;

  constructor(details                , retryAfter                = null) {
    super(`${details.title}: ${details.detail}`);
    this.details = details;
    this.slug = details.type.split("/").pop() ?? "";
    this.retryAfter = retryAfter;
  }
}

/** The verdict; throws Problem, and the reason of `signal` when that aborts. */
async function judge(dispute              , options          = {})                       {
  return read(post("/api/judge", dispute, options), options);
}

/** Each step as it happens, the verdict last; throws as `judge`. */
async function* judgeInSteps(dispute              , options          = {})                       {
  const response = await post("/api/judge/stream", dispute, options);
  let isOver = false;
  try {
    for await (const [name, data] of eventsIn(response.body )) {
      if (name === "error") throw new Problem(data                  );
      isOver = name === "verdict";
      yield { name, data };
    }
  } catch (error) {
    if (error instanceof Problem || options.signal?.aborted) throw error;
  }
  if (!isOver) throw interrupted();
}

/** The citations of an answer, checked against its sources; throws as `judge`. */
async function check(request              , options          = {})                         {
  return read(post("/api/check", request, options), options);
}

/** Passages found in the documents; throws as `judge`. */
async function search(request               , options          = {})                          {
  return read(post("/api/search", request, options), options);
}

/** What a dispute can be about; throws as `judge`. */
async function listDomains(options          = {})                            {
  const reply                  = await read(send("/api/domains", {}, options), options);
  return reply.domains;
}

function ownProblem(type        , title        , detail        , status = 0)          {
  return new Problem({ type, title, detail, status, instance: "", error: detail });
}

const interrupted = () => ownProblem("interrupted", "The connection broke", "Try again.");

const unreadable = ({ status }          ) =>
  ownProblem("unreadable", "The answer cannot be read", "Is this the service's address?", status);

/** The JSON in the reply; a proxy may send something else, or the connection break in its middle. */
async function read(sent                   , { signal }         ) {
  const response = await sent;
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw error instanceof SyntaxError ? unreadable(response) : interrupted();
  }
}

function post(path        , body        , options         )                    {
  const headers = { "content-type": "application/json" };
  return send(path, { method: "POST", body: JSON.stringify(body), headers }, options);
}

async function send(path        , init             , { baseUrl = "", key, signal }         )                    {
  const headers = new Headers(init.headers);
  try {
    // A header holds bytes, given as the first 256 characters; the service reads them as UTF-8.
    if (key) headers.set("authorization", `Bearer ${String.fromCharCode(...new TextEncoder().encode(key))}`);
  } catch {
    throw ownProblem("unauthorized", "A key cannot be sent", "A key has no line ends.");
  }
  let response;
  try {
    response = await fetch(baseUrl + path, { ...init, headers, cache: "no-store", signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw ownProblem("offline", "There is no connection to the service", "Check the address and the network.");
  }
  if (!response.ok) throw await problemIn(response);
  return response;
}

async function problemIn(response          )                   {
  const seconds = Number(response.headers.get("retry-after"));
  try {
    return new Problem(await response.json(), seconds > 0 ? seconds : null);
  } catch {
    return unreadable(response);
  }
}

/** The server-sent events in *body*, with their data; comments, which are heartbeats, are left out. */
async function* eventsIn(body                            )                                    {
  let rest = "";
  for await (const text of textsIn(body)) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const found = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (found) yield [found[1] , JSON.parse(found[2] )];
    }
  }
}

/** *body* chunk by chunk; throws when nothing comes for too long, and always releases it. */
async function* textsIn(body                            )                         {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read());
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function inTime   (awaited            )             {
  let timer;
  const silence = new Promise       ((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came")), SILENCE_MS);
  });
  return Promise.race([awaited, silence]).finally(() => clearTimeout(timer));
}
// Verdicts and broken rules in plain words, for people who read an answer.

/** A verdict as a sentence: a bare No to "May I stop paying?" would be misread. */
function verdictInWords(word                           )         {
  if (word === "No") return "No, you are not being unreasonable";
  if (word === "Yes") return "Yes, you are being unreasonable";
  return word ? "Partly: you have a point, and so do they" : "No verdict";
}

/** The headline of a persona, unless it only repeats its verdict. @param {{headline?: string, verdict: any}} told */
function ownHeadline({ headline, verdict }                                                           )         {
  return !headline || headline === `${verdictInWords(verdict)}.` ? "" : headline;
}

const FIELDS                         = { summary: "The summary", paraphrase: "The retelling", reply: "The answer" };
const PARTS                         = { rationale: "reasoning", key_points: "advice", verdict: "verdict", headline: "headline" };
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"];

/** The name of a field, for people; without the names of *personas*, which a verdict has, they are counted. */
function fieldInWords(field        , personas           = [])         {
  const [, index, part = ""] = /^personas\.(\d+)\.?(\w*)/.exec(field) ?? [];
  if (index === undefined) return FIELDS[field] ?? "The answer";
  return `The ${personas[Number(index)] ?? `${ORDINALS[Number(index)]} voice`}’s ${PARTS[part] ?? "part"}`;
}

const DEFECTS                                                              = {
  citation: (where, expected) =>
    expected.startsWith("no number")
      ? `${where} cites something, although there is nothing to cite.`
      : `${where} cites something that is not there; it may only cite ${expected}.`,
  length: (where, expected) => `${where} was too long and is cut; ${expected} are wanted.`,
  uncited: (where) => `${where} rests on none of the references.`,
  misquoted: (where) => `${where} quotes words that stand in no reference and not in your story.`,
  address: (where) => `${where} names an address or number that stands in no reference of ours.`,
  unclear: (where) => `${where} has a bracket that may or may not cite something.`,
  bare: (where) => `${where} seems to cite something that is no reference of ours.`,
  misplaced: (where) => `${where} cites something, where nothing should be cited.`,
  repetition: (where) => `${where} repeats itself, or what the model was told.`,
  contradicts: (where, expected) =>
    `${where} says the opposite of what it cites: read reference ${/\d+/.exec(expected)?.[0] ?? ""} itself.`,
  unfinished: () => "The answer broke off before its end.",
  verdict: (where) => `${where} is missing.`,
};

/** A broken rule in plain words. */
function defectInWords({ rule, field, expected }                                                    , personas           = [])         {
  if (rule === "quote") return `No sentence of reference ${/\d+/.exec(field)?.[0] ?? ""} is named, although it is cited.`;
  const say = DEFECTS[rule];
  return say ? say(fieldInWords(field, personas), expected) : "The answer was not in the form that we ask for.";
}

/** *warning* in plain words if it names a broken rule, else as it is. */
function warningInWords(warning        , personas          )         {
  const [, field = "", rule = "", expected = ""] = /^(\S+) \((\w+)\): expected (.*)$/s.exec(warning) ?? [];
  return rule ? defectInWords({ rule, field, expected }, personas) : warning;
}
// `<judge-form>`: asks the service that served this script, on pages of any site that it allows.


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

function h(name        , attributes                        , ...children         )              {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...present(children));
  return element;
}

const present = (children         ) => children.filter((child) => child !== null && child !== undefined);

/** A link if *url* is http or https, else *words* alone. */
function link(url        , words        )              {
  if (!/^https?:/i.test(url)) return h("span", {}, words);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, words);
}

function list(title        , items               , attributes = {})                     {
  if (!items.length) return null;
  const entries = items.map((item) => h("li", {}, item));
  return h("section", attributes, h("h3", {}, title), h("ul", {}, ...entries));
}

function persona(told                )              {
  const headline = ownHeadline(told);
  const entries = told.key_points.map((point) => h("li", { dir: "auto" }, point));
  return h("section", {}, h("h3", {}, `${told.name}: ${verdictInWords(told.verdict)}`),
    headline ? h("p", { dir: "auto", class: "headline" }, headline) : null,
    h("p", { dir: "auto" }, told.rationale), h("ul", {}, ...entries));
}

function otherSide(other                              )                     {
  if (!other) return null;
  const entries = other.personas.map(({ name, verdict, rationale }) => h("li", {}, h("strong", {}, `${name}: ${verdictInWords(verdict)}. `), h("bdi", {}, rationale)));
  return h("section", {}, h("h3", {}, "The other side"),
    other.retelling ? h("p", { class: "soft" }, "The same facts, as the other person might tell them, and what they would be told:") : null,
    other.retelling ? h("blockquote", { dir: "auto" }, other.retelling) : null,
    entries.length ? h("ul", {}, ...entries) : null,
    other.note ? h("p", {}, other.note) : null);
}

/** A reference that is cited, with the sentences that the answer rests on. */
function reference({ number, url, title, updated, stale }           , citations            )              {
  const quotes = new Set(citations.filter((citation) => citation.number === number).map(({ quote }) => quote));
  const facts = [updated ? `updated ${updated}` : "", stale ? "could not be fetched anew" : ""].filter(Boolean);
  const age = facts.length ? h("span", { class: "soft" }, ` (${facts.join("; ")})`) : null;
  return h("div", {}, `[${number}] `, link(url, title || url), age,
    ...[...quotes].map((quote) => quote ? h("blockquote", { dir: "auto" }, `“${quote}”`) : null));
}

function helpLine({ title, url, phone }          )              {
  return h("span", {}, link(url, title), phone ? ` ${phone}` : null);
}

/** The answer so far, in reading order. */
function fieldNodes(fields        )          {
  const texts = [fields.get("paraphrase"), fields.get("summary")].filter((text) => typeof text === "string");
  const verdicts = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value).filter((value) => typeof value !== "string");
  return [...texts.map((text) => h("p", { dir: "auto" }, text)), ...verdicts.map(persona)];
}

function fieldsOf({ paraphrase, summary, personas }             )         {
  const verdicts = personas.map((persona, index)                           => [`personas.${index}`, persona]);
  return new Map                               ([["paraphrase", paraphrase], ["summary", summary], ...verdicts]);
}

/** The final verdict: what to know first, then the answer, then its references. */
function answer(verdict             )          {
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
  #context = h("textarea", { id: "context", dir: "auto", rows: "5", required: "", minlength: "10", maxlength: "8000" });
  #query = h("textarea", { id: "query", dir: "auto", rows: "2", required: "", minlength: "5", maxlength: "1000" });
  #other = h("input", { id: "other-side", type: "checkbox", role: "switch" });
  #status = h("p", { role: "status", class: "soft" });
  #result = h("div", { id: "result", role: "group", "aria-labelledby": "title" });
  #current                         = null;

  connectedCallback()       {
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

  disconnectedCallback()       {
    this.#current?.abort();
    this.#status.textContent = "";
  }

  /** The address of the service; null if the attribute is not a URL, to send no dispute there. */
  get #server()             {
    const named = this.getAttribute("server") ?? HOME;
    return /^https?:/i.test(named) && URL.canParse(named) ? new URL(named) : null;
  }

  async #ask()                {
    this.#current?.abort();
    const current = (this.#current = new AbortController());
    const domain = this.getAttribute("domain");
    const hearsOtherSide = this.#other.checked;
    const request               = { context: this.#context.value, query: this.#query.value, hear_other_side: hearsOtherSide, ...(domain ? { domain } : {}) };
    const options = { baseUrl: this.#server?.href.replace(/\/+$/, "") ?? "https://[", key: this.getAttribute("key") ?? "", signal: current.signal };
    const fields         = new Map();
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
  #nameTheSetting()       {
    const server = this.#server;
    if (!server || server.origin === location.origin) return;
    console.warn(`judge-form: if ${server.host} can be reached, it does not allow pages of ${location.origin}: `
      + "whoever runs it can name that origin in JUDGE_CORS_ORIGINS.");
  }

  #show(title        , children         )       {
    const heading = h("h2", { tabindex: "-1" }, title);
    this.#result.replaceChildren(heading, ...present(children));
    this.#status.textContent = "";
    heading.focus();
  }
}

if (!customElements.get("judge-form")) customElements.define("judge-form", JudgeForm);
})();
