// Prints an answer, or saves it as a document, without what was written into the form.

import { announce, byId, h } from "./dom.js";
import { asMarkdown } from "./markdown.js";

const TITLE = "Am I being unreasonable? What we make of it";

/** Buttons for *verdict*, which is shown. @param {import("../../../client/src/client.ts").JudgeResult} verdict */
export function shareButtons(verdict) {
  return h("div", { class: "row share", role: "group", "aria-label": "Keep or share this answer" },
    h("button", { type: "button", class: "pill", onclick: () => print() }, "Print"),
    h("button", { type: "button", class: "pill", onclick: saveHtml }, "Download as HTML"),
    h("button", { type: "button", class: "pill", onclick: () => save("md", "text/markdown", asMarkdown(verdict)) }, "Download as Markdown"),
    h("p", { class: "hint" }, "To share it, send the document. It holds the answer and what it rests on, not what you wrote."),
  );
}

async function saveHtml() {
  save("html", "text/html", await asHtml());
}

/** The answer as it is shown, as one self-contained page: style inline, links instead of buttons. */
async function asHtml() {
  const page = document.implementation.createHTMLDocument(TITLE);
  const style = await fetch(new URL("style.css", import.meta.url)).then((reply) => reply.text(), () => "");
  const result = byId("result").cloneNode(true);
  page.body.className = "kept";
  for (const chip of result.querySelectorAll(".cite")) {
    const number = chip.dataset.number;
    chip.replaceWith(h("a", { href: `#reference-${number}`, class: chip.className }, number));
  }
  for (const control of result.querySelectorAll("[hidden], button, .share, #progress, #trouble")) control.remove();
  page.head.prepend(h("meta", { charset: "utf-8" }), h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }));
  page.body.append(h("main", {}, h("h1", {}, "Am I being unreasonable?"), result),
    h("footer", { class: "foot" }, h("p", {}, "An answer here is food for thought, not legal or medical advice.")));
  const head = `${page.head.getHTML()}<style>${style}</style>`;
  return `<!doctype html>\n<html lang="${document.documentElement.lang}"><head>${head}</head><body>${page.body.getHTML()}</body></html>\n`;
}

function save(ending, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const day = new Date().toISOString().slice(0, 10);
  h("a", { href: url, download: `judge-${day}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  announce("The document is saved.");
}
