"use strict";
// Shows openapi.json. Everything is set as text, so nothing in it can become markup.

function element(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

/** Add *text* to *parent*, with what is between backticks as code. */
function write(parent, text) {
  text.split("`").forEach((part, index) => {
    if (index % 2) element("code", parent, part);
    else parent.append(part);
  });
}

function fold(parent, title) {
  const details = element("details", parent);
  write(element("summary", details), title);
  return details;
}

function code(parent, value) {
  element("code", element("pre", parent), JSON.stringify(value, null, 2));
}

function showContent(parent, content) {
  for (const [type, media] of Object.entries(content || {})) {
    const schema = fold(parent, `${type}: schema`);
    code(schema, media.schema);
    for (const [name, example] of Object.entries(media.examples || {})) {
      code(fold(parent, `${type}: example "${name}"`), example.value);
    }
  }
}

function showParameters(parent, parameters) {
  if (!parameters.length) return;
  element("h3", parent, "Parameters");
  const list = element("ul", parent);
  for (const parameter of parameters) {
    const item = element("li", list);
    element("code", item, parameter.name);
    const need = parameter.required ? "required" : "optional";
    write(item, ` (${parameter.in}, ${need}) ${parameter.description || ""}`);
  }
}

function showOperation(parent, path, method, operation) {
  const section = element("section", parent);
  const heading = element("h2", section);
  element("span", heading, `${method} `, "method");
  element("code", heading, path);
  write(element("p", section), `${operation.summary}.`);
  if (operation.description) write(element("p", section), operation.description);
  showParameters(section, operation.parameters || []);
  if (operation.requestBody) {
    element("h3", section, "Body");
    for (const { schema } of Object.values(operation.requestBody.content)) {
      if (schema.description) write(element("p", section), schema.description);
    }
    showContent(section, operation.requestBody.content);
  }
  element("h3", section, "Replies");
  for (const [status, response] of Object.entries(operation.responses)) {
    const details = fold(section, `${status}: ${response.description}`);
    showContent(details, response.content);
  }
}

function show(api) {
  document.getElementById("title").textContent = `${api.info.title} ${api.info.version}`;
  document.getElementById("summary").textContent = api.info.summary;
  const content = document.getElementById("content");
  content.textContent = "";
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      showOperation(content, path, method, operation);
    }
  }
  element("h2", content, "Schemas");
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    code(fold(content, name), schema);
  }
}

fetch("schema/openapi.json")
  .then((reply) => reply.json())
  .then(show)
  .catch(() => {
    document.getElementById("content").textContent =
      "The document could not be loaded. Please reload the page.";
  });
