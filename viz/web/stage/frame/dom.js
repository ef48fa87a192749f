// Elements of the page.

import { formatNumber } from "../../recording/text/sentences.js";

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
 * Replaces the children of an element, unless it has the same ones; empty ones are left out, lists are flattened.
 * @param {Element} box
 * @param {Children[]} children
 */
export function setChildren(box, ...children) {
  const nodes = nodesOf(children);
  const old = box.childNodes;
  if (nodes.length !== old.length || nodes.some((node, i) => node !== old[i])) box.replaceChildren(...nodes);
}

/** Names a control of a box: by what it is about, else by its place. @param {Element} control @param {number} i */
function controlName(control, i) {
  const { part, picture } = /** @type {HTMLElement} */ (control).dataset;
  const side = /** @type {HTMLElement | null} */ (control.closest("[data-side]"))?.dataset.side;
  return part || picture ? [side, part, picture].join() : String(i);
}

/**
 * Builds what stands in a box again; the control that has the focus keeps it, or gives it to the one in its place.
 * @param {Element} box
 * @param {() => void} build
 */
export function keepFocus(box, build) {
  const controls = () => [...box.querySelectorAll("button")];
  const before = controls();
  const place = before.findIndex((control) => control === document.activeElement);
  build();
  if (place < 0 || before[place] === document.activeElement) return;
  const name = controlName(before[place], place);
  const after = controls();
  const same = after.find((control, i) => controlName(control, i) === name) ?? after[Math.min(place, after.length - 1)];
  same?.focus({ preventScroll: true });
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
  const [first] = about;
  const properties = isProperties(first) ? first : {};
  const children = /** @type {Children[]} */ (isProperties(first) ? about.slice(1) : about);
  const [look, part] = name.split("#");
  const [tag, ...classes] = look.split(".");
  const space = `http://www.w3.org/${tag === "svg" ? "2000/svg" : "1999/xhtml"}`;
  const element = document.createElementNS(space, tag);
  const all = {
    class: classes.map((className) => `hl-${className}`).join(" ") || null,
    "data-testid": part && `stage-${part}`,
    ...properties,
  };
  for (const [key, value] of Object.entries(all)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if ((value ?? false) !== false) element.setAttribute(key, value === true ? "" : value);
  }
  setChildren(element, children);
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

/** The attributes that name an element which shows no words. @param {string} text */
export const labelAttributes = (text) => ({ title: text, "aria-label": text });

/** @param {string} look @param {string} sign @param {string} text @param {(event: MouseEvent) => unknown} onclick */
export const icon = (look, sign, text, onclick) => button(`plain.sign${look}`, sign, onclick, labelAttributes(text));

/** A number as the language of the page writes it. @param {number} value @param {number} n  decimals */
export const decimals = (value, n) => formatNumber(value, `.${n}f`, document.documentElement.lang || "en");

/** A number with its sign. @param {number} value */
export const change = (value) => (value > 0 ? "+" : "") + decimals(value, 2);

/** @param {number} share */
export const percent = (share) => `${decimals(100 * share, 1)} %`;

/**
 * The words of one side (0 or 1) of pairs, with spaces between them; those that differ have a class.
 * @param {[string | null, string | null][]} pairs
 * @param {0 | 1} side
 * @param {string} look
 * @returns {Children[]}
 */
export const markDifferences = (pairs, side, look) =>
  pairs
    .filter((pair) => pair[side])
    .flatMap((pair) => [" ", pair[0] === pair[1] ? pair[side] : el(`span.${look}`, pair[side])])
    .slice(1);

/**
 * Marks a tab or tile as selected, or not; only the selected one takes the focus.
 * @param {HTMLElement} element
 * @param {boolean} isSelected
 */
export function mark(element, isSelected) {
  if (element.ariaSelected === String(isSelected)) return;
  element.ariaSelected = String(isSelected);
  element.tabIndex = isSelected ? 0 : -1;
}

/** Copies a text; over plain HTTP, where pages have no clipboard, by selecting it. @param {string} text */
export function copyText(text) {
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
 * Does something once the next frame is painted, and `delay` milliseconds have passed.
 * @param {() => void} work
 * @param {number} delay
 */
export const afterPainting = (work, delay = 0) => requestAnimationFrame(() => setTimeout(work, delay));
