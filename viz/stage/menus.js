// What stands behind the small buttons: options, downloads, code; and the large map as a table.

import { fill, rows } from "./data.js";
import { button, copied, decimals, el, select } from "./dom.js";
import { file } from "./file.js";

/** Fields: `ask(name, value)` when one is chosen, `live(name, value)` while one is moved. */
export function fields(options, ask, live = () => {}) {
  return options.map(({ type, name, label, value, help, enabled, options, low, high, step = 1, unit = "" }) => {
    const disabled = !enabled;
    const between = { type, min: low, max: high, value };
    const field = (...parts) => el("label.hl-field", { title: help }, ...parts);
    if (type === "switch") {
      const onchange = ({ target }) => ask(name, target.checked ? "1" : "0");
      const box = el("input", { type: "checkbox", checked: value === "1", disabled, onchange });
      return el("label.hl-field.hl-switch", { title: help }, box, label);
    }
    if (type === "range") {
      const said = el("output", {}, `${value}${unit}`);
      const oninput = ({ target }) => ((said.textContent = `${target.value}${unit}`), live(name, target.value));
      const onchange = ({ target }) => ask(name, target.value);
      return field(label, el("input", { ...between, step, oninput, onchange }), said);
    }
    if (type === "number") {
      const onchange = ({ target }) => target.reportValidity() && target.value && ask(name, target.value);
      return field(label, el("input", { ...between, onchange }));
    }
    return field(label, select(options, value, (code) => ask(name, code), { disabled }));
  });
}

/** Fields as a form, where `ask(names, null)` resets all. */
export function form(options, words, ask, live) {
  const reset = () => ask(options.map((one) => one.name), null);
  return [...fields(options, ask, live), button("hl-plain", words.reset, reset)];
}

export function table(names, keys, rows, corner) {
  const said = (value) => (typeof value === "string" ? value : Number.isNaN(value) ? "" : decimals(value, 3));
  const cells = (row) => Array.from(row, (value) => el("td", {}, said(value)));
  const head = el("tr", {}, [corner, ...keys].map((key) => el("th", {}, key)));
  const body = rows.map((row, i) => el("tr", {}, el("th", { scope: "row" }, names[i]), cells(row)));
  const parts = [el("thead", {}, head), el("tbody", {}, body)];
  return el("div.hl-table", { tabindex: "0" }, el("table", {}, parts));
}

/** A picture as [names of rows, of columns, cells, corner]. */
export function tableOf({ kind, look, z, table: own }, { words }) {
  if (kind?.code) return [kind.queries, kind.keys, kind.map(...kind.open, true), `${words.query} / ${words.key}`];
  const [names = [], keys = [], cells = z ? rows(z) : []] = own ?? look.names ?? [];
  return [names, keys, cells, ""];
}

/** Comma-separated values; what spreadsheets take for formulas begins with a '. */
function csv(lines) {
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  const cell = (one) => (typeof one === "string" ? `"${safe(one).replaceAll('"', '""')}"` : String(one));
  return lines.map((line) => `${Array.from(line, cell).join(",")}\r\n`).join("");
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A figure as it is kept: dark on white, with its title. */
function kept({ data, layout }, text) {
  const { margin, height, font } = layout;
  const title = { text, x: 0, xref: "container", y: 1, yanchor: "top", pad: { t: 12, l: 12 }, font: { size: 15 } };
  const white = { font: { ...font, color: "#1f2933" }, paper_bgcolor: "#fff", plot_bgcolor: "#fff" };
  return { data, layout: { ...layout, margin: { ...margin, t: margin.t + 44 }, height: height + 44, title, ...white } };
}

export function code(text, place, words) {
  const lines = fill(text, place);
  return [el("pre", { tabindex: "0" }, lines), button("hl-plain", words.copy, () => copied(lines))];
}

export function downloads(stage, close) {
  const { kind, map, host, state } = stage;
  const { words, translation } = stage.told;
  const title = [stage.title.textContent, translation].filter(Boolean).join(" · ");
  const name = ["headlight", state.view, ...(kind ? [kind.code, ...kind.open] : [])].join("-");
  const picture = (format) => async () => {
    const { data, layout } = kept(map.drawn, title);
    const { width, height } = layout;
    (await host.plotly()).downloadImage({ data, layout }, { format, filename: name, width, height, scale: 2 });
  };
  const lines = () => {
    const [names, keys, cells, corner] = tableOf(stage.shown(), stage.told);
    const said = (one) => (typeof one === "string" ? one : Number(one.toFixed(6)));
    const listed = (row, i) => [names[i], ...Array.from(row, said)];
    if (state.view !== "map") return [[corner, ...keys], ...cells.map(listed)];
    const long = cells.flatMap((row, i) => Array.from(row, (value, j) => [i, names[i], j, keys[j], said(value)]));
    return [["row", words.query, "column", words.key, words.weight], ...long];
  };
  const items = {
    png: picture("png"),
    svg: picture("svg"),
    html: host.shell && (async () => save("headlight-stage.html", "text/html", await file(stage))),
    csv: stage.shown() && (() => save(`${name}.csv`, "text/csv", csv(lines()))),
  };
  return Object.entries(items)
    .filter(([, make]) => make)
    .map(([what, make]) => button("hl-item", words[what], () => (close(), make())));
}
