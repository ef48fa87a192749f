// Options, code, and the large map as a table.
// @ts-nocheck

import { fill } from "../recording/sentences.js";
import { button, copied, decimals, el } from "./dom.js";
import { select } from "./widgets.js";

/** `ask({name: value})` when one is chosen, `live` while one is moved. */
export const fields = (options, ask, live) => options.map((option) => field(option, ask, live));

function field({ type, name, label, value, help, enabled = true, options, low, high, step = 1, unit = "" }, ask, live) {
  const set = (given) => ask({ [name]: given });
  const onchange = ({ target }) => target.value && target.reportValidity() && set(target.value);
  const between = { type, min: low, max: high, value, onchange };
  const said = el("output", `${value}${unit}`);
  const oninput = ({ target }) => {
    said.textContent = `${target.value}${unit}`;
    live?.({ [name]: target.value });
  };
  const turn = ({ target }) => set(target.checked ? "1" : "0");
  const parts = {
    switch: () => [
      el("input", { type: "checkbox", checked: value === "1", disabled: !enabled, onchange: turn }),
      label,
    ],
    range: () => [label, el("input", { ...between, step, oninput }), said],
    number: () => [label, el("input", between)],
    choice: () => [label, select(options, value, set, { disabled: !enabled })],
  };
  return el(`label.field${type === "switch" ? ".switch" : ""}`, { title: help }, parts[type]());
}

/** Fields as a form, which null for all of them resets. */
export function form(options, words, ask, live) {
  const nothing = Object.fromEntries(options.map(({ name }) => [name, null]));
  return [...fields(options, ask, live), button("plain", words.reset, () => ask(nothing))];
}

export function table(names, keys, rows, corner = "") {
  const said = (value) => (typeof value === "string" ? value : Number.isNaN(value) ? "" : decimals(value, 3));
  const cells = (row) => Array.from(row, (value) => el("td", said(value)));
  const top = [corner, ...keys].map((key) => el("th", key));
  const body = rows.map((row, i) => el("tr", el("th", { scope: "row" }, names[i]), cells(row)));
  return el("div.table", { tabindex: "0" }, el("table", el("thead", el("tr", top)), el("tbody", body)));
}

/** A picture as [names of rows, of columns, cells, corner]. */
export function tableOf({ kind, look, z = [], table }, stage) {
  const corner = `${stage.say("query")} / ${stage.say("key")}`;
  if (kind?.code) return [kind.queries, kind.keys, kind.map(...kind.open, true), corner];
  const [names = [], keys = [], cells = z] = table ?? look.names ?? [];
  return [names, keys, cells];
}

export function code(stage) {
  const { kind, told, state } = stage;
  const { temperature, "top-k": top_k, "top-p": top_p } = state.chance ?? {};
  const lines = fill(told.codeOf(state.view, kind), { temperature, top_k, top_p });
  return [el("pre", { tabindex: "0" }, lines), button("plain", stage.say("copy"), () => copied(lines))];
}
