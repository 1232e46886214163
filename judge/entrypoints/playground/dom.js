// Makes elements. Whatever comes from a page, a model or a person goes in as text, never as markup.

/** An element of the page, of any type. @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);

/**
 * An element with attributes (`onclick` and the like are listeners) and children, nulls left out.
 * @param {string} name
 * @param {Record<string, any>} attributes
 * @param {...any} children
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A link if *url* is http or https, else *words* alone. @param {string} url @param {string} words */
export function link(url, words) {
  if (!/^https?:\/\//i.test(url)) return h("span", {}, words);
  return h("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, words);
}

/** Scroll to *element* and focus it; smoothly, unless the user prefers reduced motion. @param {HTMLElement} element */
export function goTo(element, /** @type {ScrollLogicalPosition} */ block = "start") {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block, behavior: still ? "auto" : "smooth" });
}

/** Announce *words* to screen readers. */
export function announce(words) {
  byId("announcer").textContent = words;
}
