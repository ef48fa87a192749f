// The controls of a sheet: a row that keeps each control in its place, with its focus, while others come and go.

import { button, dress, el, labelAttributes, setChildren } from "../stage/frame/dom.js";
import { select, tabs } from "../stage/frame/widgets.js";
import { codeOf, toggled } from "./types.js";

/** @typedef {import("./types.js").Context["change"]} Change */
/** @typedef {import("./types.js").Control} Control */
/**
 * A control on the page, and how it shows another value.
 * @typedef {{node: HTMLElement, renew: (control: any) => unknown}} Drawn
 */

/** @type {Record<Control["type"], (control: any, change: Change) => Drawn>} */
const DRAWN = { choice, select: list, several, slider, text: textBox, button: setter, link };

export class Controls {
  /** @type {Map<string, Drawn & {stamp: string}>} by key */ drawn = new Map();

  /** @param {string} look @param {Change} change */
  constructor(look, change) {
    this.box = el(/** @type {"div.x"} */ (`div.sheet-controls.${look}`));
    this.change = change;
  }

  /** @param {Control[]} controls */
  show(controls) {
    const before = this.drawn;
    this.drawn = new Map(controls.map((control) => [control.key, this.drawnOf(control, before.get(control.key))]));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const key = focused && this.box.contains(focused) ? [...before].find(([, { node }]) => node.contains(focused))?.[0] : null;
    arrange(this.box, [...this.drawn.values()].map(({ node }) => node));
    for (const control of controls) this.drawn.get(control.key)?.renew(control);
    this.box.hidden = !controls.length;
    if (key && !focused?.isConnected) focusable(this.drawn.get(key)?.node)?.focus({ preventScroll: true });
  }

  /** The control that is drawn, if only its value is another one. @param {Control} control @param {(Drawn & {stamp: string}) | undefined} old */
  drawnOf(control, old) {
    const { type, key, label, written, help } = control;
    const { value: _, text: __, ...lasting } = /** @type {any} */ (control);
    const stamp = JSON.stringify(type === "button" || type === "link" ? [type, key] : lasting);
    if (old?.stamp === stamp) return old;
    const drawn = DRAWN[type](control, this.change);
    const isNamed = written && type !== "button" && type !== "link";
    const name = isNamed && el("span.sheet-label", { "aria-hidden": "true" }, label);
    const node = el("div.sheet-control", { "data-testid": `control-${key}`, title: help }, name, drawn.node);
    dress(node, { "sheet-wide": type === "text" });
    return { ...drawn, node, stamp };
  }
}

/** @param {HTMLElement | undefined} node @returns {HTMLElement | null} */
const focusable = (node) => node?.querySelector("[aria-selected=true], input, select, button, a") ?? null;

/**
 * Gives a box these children, and moves none that stand right.
 * @param {Element} box
 * @param {Element[]} nodes
 */
export function arrange(box, nodes) {
  for (const child of [...box.children]) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, i) => {
    if (box.children[i] !== node) box.insertBefore(node, box.children[i] ?? null);
  });
}

/** @param {import("./types.js").Choice} control @param {Change} change @returns {Drawn} */
function choice({ key, label, options, usual, clears = [] }, change) {
  const cleared = Object.fromEntries(clears.map((name) => [name, null]));
  const pick = (/** @type {Record<string, string>} */ { choice: code }) => change({ ...cleared, [key]: codeOf(code, usual) });
  const bar = tabs({ [key]: label }, key, "choice", options, null, pick);
  return { node: bar, renew: ({ value }) => bar.mark(value) };
}

/** @param {import("./types.js").Select} control @param {Change} change @returns {Drawn} */
function list({ key, label, options, usual }, change) {
  const node = select(options, "", (code) => change({ [key]: codeOf(code, usual) }), { "aria-label": label });
  return { node, renew: ({ value }) => (node.value = value) };
}

/** @param {import("./types.js").Several} control @param {Change} change @returns {Drawn} */
function several({ key, label, options, usual, most }, change) {
  /** @type {string[]} */
  let chosen = [];
  const take = (/** @type {string} */ code) => {
    const codes = options.map(([each]) => each);
    const next = toggled(chosen, code, most);
    const sorted = most ? next : codes.filter((each) => next.includes(each));
    change({ [key]: codeOf(sorted.join("."), usual.join(".")) });
  };
  const buttons = options.map(([code, name]) => button("sheet-pill", name, () => take(code), { "data-code": code }));
  const renew = (/** @type {import("./types.js").Several} */ { value }) => {
    chosen = value;
    for (const each of buttons) each.ariaPressed = String(value.includes(each.dataset.code ?? ""));
  };
  return { node: el("div.sheet-several", { role: "group", "aria-label": label }, buttons), renew };
}

/** @param {import("./types.js").Slider} control @param {Change} change @returns {Drawn} */
function slider({ key, label, options, low = 0, high = (options?.length ?? 1) - 1, step = 1, usual }, change) {
  let isMoved = false;
  const codeAt = (/** @type {string} */ place) => (options ? options[Number(place)][0] : place);
  const oninput = () => {
    change({ [key]: codeOf(codeAt(input.value), usual) }, !isMoved);
    isMoved = true; // all that is moved in one go is one entry of the history
  };
  const onchange = () => (isMoved = false);
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label, oninput, onchange });
  const output = el("output.sheet-value");
  const renew = (/** @type {import("./types.js").Slider} */ { value, text }) => {
    const place = options ? String(options.findIndex(([code]) => code === value)) : value;
    if (input.value !== place) input.value = place;
    input.ariaValueText = text;
    output.textContent = text;
  };
  return { node: el("span.sheet-slider", input, output), renew };
}

/** @param {import("./types.js").TextBox} control @param {Change} change @returns {Drawn} */
function textBox({ key, label, usual, hint }, change) {
  let isVisited = false;
  const oninput = () => {
    change({ [key]: codeOf(node.value, usual) }, !isVisited);
    isVisited = true; // all that is typed in one visit is one entry of the history
  };
  const onblur = () => (isVisited = false);
  const about = { type: "text", autocomplete: "off", dir: "auto", spellcheck: "false", placeholder: hint };
  const node = el("input.sentence", { ...about, "aria-label": label, oninput, onblur });
  return { node, renew: ({ value }) => node.value !== value && (node.value = value) };
}

/** @param {import("./types.js").Button} control @param {Change} change @returns {Drawn} */
function setter({ set }, change) {
  let parameters = set;
  const node = button("sheet-button", "", () => change(parameters));
  const renew = (/** @type {import("./types.js").Button} */ { label, set: next, disabled }) => {
    parameters = next;
    node.disabled = Boolean(disabled);
    setChildren(node, label);
  };
  return { node, renew };
}

/** @returns {Drawn} */
function link() {
  const node = el("a.sheet-link", { target: "_self" });
  const renew = (/** @type {import("./types.js").Link} */ { label, href, help }) => {
    node.href = href;
    for (const [name, text] of Object.entries(help ? labelAttributes(help) : {})) node.setAttribute(name, text);
    setChildren(node, label);
  };
  return { node, renew };
}
