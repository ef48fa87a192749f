// Choices, tabs and menus.

import { button, el, icon, mark, setChildren } from "./dom.js";

/** @typedef {import("./dom.js").Children} Children */
/** @typedef {import("./dom.js").Properties} Properties */

/** @type {Record<string, [number, number]>} down and right, by key */
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * A drop-down menu.
 * @param {string[][]} options  values and texts
 * @param {string} selected
 * @param {(value: string) => unknown} choose
 * @param {Properties} properties
 * @returns {HTMLSelectElement}
 */
export function select(options, selected, choose, properties, look = "") {
  const entries = options.map(([value, text]) => el("option", { value, selected: value === selected }, text));
  const onchange = (/** @type {{target: HTMLSelectElement}} */ { target }) => choose(target.value);
  return el(/** @type {"select.x"} */ (`select${look}`), { ...properties, onchange }, entries);
}

/**
 * Calls back for arrow keys, without `rows` only for those along the line.
 * @param {HTMLElement} box
 * @param {(target: HTMLElement, right: number, down: number) => void} move
 */
export function arrows(box, move, rows = false) {
  box.addEventListener("keydown", (event) => {
    const [down, right] = STEPS[event.key] ?? [];
    if (right === undefined || (down && !rows)) return;
    event.preventDefault();
    move(/** @type {HTMLElement} */ (event.target), right, down);
  });
}

/** @typedef {HTMLDivElement & {mark: (code: string | null) => void}} Tabs  mark(code) selects a tab, without a callback */

/**
 * Tabs, of which one is selected.
 * @param {Record<string, string>} words  texts by name
 * @param {string} part  the tabs, which words[part] names
 * @param {string} name  under which `choose` gets the code of the selected tab
 * @param {readonly (string | [string, string])[]} options  codes, which are names of words, or codes and texts
 * @param {string | null} selected
 * @param {(change: Record<string, string>) => unknown} choose
 * @returns {Tabs}
 */
export function tabs(words, part, name, options, selected, choose) {
  /** @type {HTMLButtonElement[]} */
  const all = options.map((option) => {
    const [code, text] = Array.isArray(option) ? option : [option, words[option]];
    const pick = () => {
      bar.mark(code);
      choose({ [name]: code });
    };
    return button("tab", text, pick, { role: "tab", [`data-${name}`]: code });
  });
  const box = el(/** @type {"div.x"} */ (`div.tabs#${part}`), { role: "tablist", "aria-label": words[part] }, all);
  /** @type {Tabs} */
  const bar = Object.assign(box, {
    mark: (/** @type {string | null} */ code) => all.forEach((tab) => mark(tab, tab.dataset[name] === code)),
  });
  bar.mark(selected);
  arrows(bar, (tab, step) => {
    const place = all.indexOf(/** @type {HTMLButtonElement} */ (tab));
    const next = all[(place + step + all.length) % all.length];
    next.focus();
    next.click();
  });
  return bar;
}

/**
 * A button with a panel; renew() gives it another name, if any, and makes what it shows again if it is open: the focus
 * stays on the control that has it.
 * @typedef {HTMLDivElement & {renew: (text?: string) => void}} Menu
 */

/**
 * A button that opens a panel, which Escape and a click elsewhere close.
 * @param {string} part
 * @param {string} sign
 * @param {string} text
 * @param {(close: () => void) => Children} make  what stands in the panel
 * @returns {Menu}
 */
export function menu(part, sign, text, make) {
  const panel = el("div.panel", { hidden: true });
  const toggle = (/** @type {boolean} */ open) => {
    if (open) setChildren(panel, make(() => toggle(false)));
    panel.hidden = !open;
    opener.ariaExpanded = String(open);
  };
  const opener = icon(`#${part}`, sign, text, () => toggle(Boolean(panel.hidden)));
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    toggle(false);
    opener.focus();
    event.stopPropagation();
  };
  const box = el("div.menu", { onkeydown }, opener, panel);
  toggle(false);
  document.addEventListener("pointerdown", ({ target }) => {
    if (!box.contains(/** @type {Node} */ (target))) toggle(false);
  });
  return Object.assign(box, {
    renew: (/** @type {string | undefined} */ text) => {
      if (text) setChildren(opener, text);
      for (const name of text ? ["title", "aria-label"] : []) opener.setAttribute(name, text ?? "");
      if (panel.hidden) return;
      const controls = () => [.../** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll("select, input, button"))];
      const focused = controls().findIndex((control) => control.matches(":focus"));
      toggle(true);
      controls()[focused]?.focus();
    },
  });
}
