// Options, code, and the large map as a table.

import { fill } from "../../recording/text/sentences.js";
import { button, copyText, decimals, el } from "./dom.js";
import { select } from "./widgets.js";
import { rowView } from "../map/row_views.js";

/** @typedef {import("../main/message.js").Field} Field */
/** @typedef {import("../main/message.js").FieldValues} FieldValues */
/** @typedef {(values: FieldValues) => unknown} TakeValues */
/** @typedef {[names: string[], keys: string[], cells: ArrayLike<string | number | null>[], corner?: string]} Grid */

/**
 * Controls; `ask` is called when one is chosen, `live` while one is moved.
 * @param {Field[]} options
 * @param {TakeValues} ask
 * @param {TakeValues} [live]
 */
export const fields = (options, ask, live) => options.map((option) => field(option, ask, live));

/** @param {Field} about @param {TakeValues} ask @param {TakeValues} [live] */
function field({ type, name, label, value, help, enabled = true, options, low, high, step = 1, unit = "" }, ask, live) {
  /** @typedef {{target: HTMLInputElement}} Changed */
  const set = (/** @type {string} */ newValue) => ask({ [name]: newValue });
  const onchange = (/** @type {Changed} */ { target }) => target.value && target.reportValidity() && set(target.value);
  const between = { type, min: low, max: high, value, onchange };
  const output = el("output", `${value}${unit}`);
  const oninput = (/** @type {Changed} */ { target }) => {
    output.textContent = `${target.value}${unit}`;
    live?.({ [name]: target.value });
  };
  const turn = (/** @type {Changed} */ { target }) => set(target.checked ? "1" : "0");
  /** @type {Record<string, () => import("./dom.js").Children[]>} */
  const parts = {
    switch: () => [
      el("input", { type: "checkbox", checked: value === "1", disabled: !enabled, onchange: turn }),
      label,
    ],
    range: () => [label, el("input", { ...between, step, oninput }), output],
    number: () => [label, el("input", between)],
    choice: () => [label, select(options ?? [], value, set, { disabled: !enabled })],
  };
  return el(type === "switch" ? "label.field.switch" : "label.field", { title: help }, parts[type]());
}

/**
 * Fields as a form, which null for all of them resets.
 * @param {Field[]} options
 * @param {Record<string, string>} words
 * @param {TakeValues} ask
 * @param {TakeValues} [live]
 */
export function form(options, words, ask, live) {
  const nothing = Object.fromEntries(options.map(({ name }) => [name, null]));
  return [...fields(options, ask, live), button("plain", words.reset, () => ask(nothing))];
}

/** A table of numbers and texts. @param {string[]} names  of rows @param {string[]} keys @param {Grid[2]} rows */
export function table(names, keys, rows, corner = "") {
  const format = (/** @type {string | number | null} */ value) => {
    if (typeof value === "string") return value;
    return value === null || Number.isNaN(value) ? "" : decimals(value, 3);
  };
  const cells = (/** @type {Grid[2][number]} */ row) => Array.from(row, (value) => el("td", format(value)));
  const top = [corner, ...keys].map((key) => el("th", key));
  const body = rows.map((row, i) => el("tr", el("th", { scope: "row" }, names[i]), cells(row)));
  return el("div.table", { tabindex: "0" }, el("table", el("thead", el("tr", top)), el("tbody", body)));
}

/**
 * A picture as a table.
 * @param {import("../main/view.js").View} view
 * @param {import("../main/stage.js").Stage} stage
 * @returns {Grid}
 */
export function tableOf({ map: kind, look, z = [], table }, stage) {
  const corner = `${stage.say("query")} / ${stage.say("key")}`;
  if (kind) return [kind.queries, kind.keys, kind.map(...kind.open, true), corner];
  const [names = [], keys = [], cells = z] = table ?? look?.names ?? [];
  return [names, keys, cells];
}

/** The Python of what is shown. @param {import("../main/stage.js").Stage} stage */
export function code(stage) {
  const { kind, result, state } = stage;
  const { temperature, "top-k": top_k, "top-p": top_p } = state.chance ?? {};
  const lines = rowView(stage)?.code(stage) ?? fill(result.codeOf(state.view, kind), { temperature, top_k, top_p });
  return [el("pre", { tabindex: "0" }, lines), button("plain", stage.say("copy"), () => copyText(lines))];
}
