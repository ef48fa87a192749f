// Elements of the page.

import { written } from "../../recording/text/sentences.js";

/**
 * What an element can have in it; empty ones and false are left out.
 * @typedef {Node | string | number | false | null | undefined} Child
 */
/** @typedef {Child | Children[]} Children */
/** @typedef {Record<string, any>} Properties  attributes, and listeners as "on..." */
/** @typedef {HTMLElementTagNameMap & {svg: SVGSVGElement}} Tags */
/**
 * The class of an element by its name as `el` takes it.
 * @template {string} Name
 * @typedef {Name extends `${infer Look}#${string}` ? ElementOf<Look> : Name extends `${infer Tag}.${string}`
 *   ? ElementOf<Tag> : Name extends keyof Tags ? Tags[Name] : HTMLElement} ElementOf
 */

/** @param {Children[]} children @returns {(Node | string)[]} */
const nodesOf = (children) =>
  children.flatMap((child) => {
    if (Array.isArray(child)) return nodesOf(child);
    return child ? [typeof child === "number" ? String(child) : child] : [];
  });

/**
 * Gives an element these children, or lists of them, but for empty ones; those that it has stay as they are.
 * @param {Element} box
 * @param {Children[]} children
 */
export function put(box, ...children) {
  const [nodes, old] = [nodesOf(children), box.childNodes];
  if (nodes.length !== old.length || nodes.some((node, i) => node !== old[i])) box.replaceChildren(...nodes);
}

/** @param {Properties | Children} value @returns {value is Properties} */
const isProperties = (value) => value?.constructor === Object;

/**
 * An element: "tag.class#part" (hl-class; stage-part for tests), its properties, its children.
 * @template {string} Name
 * @param {Name} name
 * @param {[Properties | Children, ...Children[]] | []} about  properties, if any, then children
 * @returns {ElementOf<Name>}
 */
export function el(name, ...about) {
  const [first, ...rest] = about;
  const properties = isProperties(first) ? first : {};
  const children = isProperties(first) ? rest : /** @type {Children[]} */ (about);
  const [look, part] = name.split("#");
  const [tag, ...classes] = look.split(".");
  const space = `http://www.w3.org/${tag === "svg" ? "2000/svg" : "1999/xhtml"}`;
  const element = document.createElementNS(space, tag);
  const all = {
    class: classes.map((one) => `hl-${one}`).join(" ") || null,
    "data-testid": part && `stage-${part}`,
    ...properties,
  };
  for (const [key, value] of Object.entries(all)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if ((value ?? false) !== false) element.setAttribute(key, value === true ? "" : value);
  }
  put(element, children);
  return /** @type {ElementOf<Name>} */ (/** @type {unknown} */ (element));
}

/**
 * Gives an element classes, or takes them away.
 * @param {Element} element
 * @param {Record<string, unknown>} looks  by class whether it has it
 */
export function dress(element, looks) {
  for (const [name, on] of Object.entries(looks)) element.classList.toggle(`hl-${name}`, Boolean(on));
}

/**
 * @param {string} look  classes and part, as `el` takes them behind the tag
 * @param {Children} text
 * @param {(event: MouseEvent) => unknown} onclick
 * @param {Properties} properties
 * @returns {HTMLButtonElement}
 */
export const button = (look, text, onclick, properties = {}) =>
  el(/** @type {"button.x"} */ (`button.${look}`), { type: "button", onclick, ...properties }, text);

/** The name of an element without words. @param {string} text */
export const named = (text) => ({ title: text, "aria-label": text });

/** @param {string} look @param {string} sign @param {string} text @param {(event: MouseEvent) => unknown} onclick */
export const icon = (look, sign, text, onclick) => button(`plain.sign${look}`, sign, onclick, named(text));

/** A number as the language of the page writes it. @param {number} value @param {number} n  decimals */
export const decimals = (value, n) => written(value, `.${n}f`, document.documentElement.lang || "en");

/** A number with its sign. @param {number} value */
export const change = (value) => (value > 0 ? "+" : "") + decimals(value, 2);

/** @param {number} share */
export const percent = (share) => `${decimals(100 * share, 1)} %`;

/**
 * One side (0 or 1) of words in pairs; those that differ have a class.
 * @param {[string | null, string | null][]} pairs
 * @param {0 | 1} side
 * @param {string} look
 * @returns {Children[]}
 */
export const marked = (pairs, side, look) =>
  pairs
    .filter((pair) => pair[side])
    .flatMap((pair) => [" ", pair[0] === pair[1] ? pair[side] : el(`span.${look}`, pair[side])])
    .slice(1);

/** Says which of some elements is chosen. @param {HTMLElement} element @param {boolean} chosen */
export function mark(element, chosen) {
  if (element.ariaSelected === String(chosen)) return;
  element.ariaSelected = String(chosen);
  element.tabIndex = chosen ? 0 : -1;
}

/** Over plain HTTP, where pages have no clipboard, copies as a reader would. @param {string} text */
export function copied(text) {
  if (navigator.clipboard) {
    navigator.clipboard.writeText(text);
    return;
  }
  const field = el("textarea", text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/**
 * Does something once the next frame is painted, and so many milliseconds have passed.
 * @param {() => void} work
 * @param {number} delay
 */
export const afterPainting = (work, delay = 0) => requestAnimationFrame(() => setTimeout(work, delay));
