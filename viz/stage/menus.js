// What stands behind the small buttons: options, downloads, code; and the large map as a table.

import { fill } from "./data.js";
import { copied, decimals, el } from "./dom.js";
import { file } from "./file.js";

/** Fields: `ask(name, value)` when one is chosen, `live(name, value)` while one is moved. */
export function fields(options, ask, live = () => {}) {
  return options.map((one) => {
    if (one.type === "switch") {
      const box = el("input", {
        type: "checkbox",
        checked: one.value === "1",
        disabled: !one.enabled,
        onchange: () => ask(one.name, box.checked ? "1" : "0"),
      });
      return el("label", { class: "hl-field hl-switch", title: one.help }, box, one.label);
    }
    if (one.type === "range") {
      const unit = one.unit ?? " %";
      const said = el("output", {}, `${one.value}${unit}`);
      const slider = el("input", {
        type: "range",
        min: one.low,
        max: one.high,
        step: one.step ?? 1,
        value: one.value,
        oninput: () => {
          said.textContent = `${slider.value}${unit}`;
          live(one.name, slider.value);
        },
        onchange: () => ask(one.name, slider.value),
      });
      return el("label", { class: "hl-field", title: one.help }, one.label, slider, said);
    }
    if (one.type === "number") {
      const onchange = ({ target }) => target.reportValidity() && target.value && ask(one.name, target.value);
      const box = el("input", { type: "number", min: one.low, max: one.high, value: one.value, onchange });
      return el("label", { class: "hl-field", title: one.help }, one.label, box);
    }
    const select = el(
      "select",
      { disabled: !one.enabled, onchange: () => ask(one.name, select.value) },
      ...one.options.map(([code, text]) => el("option", { value: code, selected: code === one.value }, text)),
    );
    return el("label", { class: "hl-field", title: one.help }, one.label, select);
  });
}

/** Fields as a form, where `ask(names, null)` resets all. */
export function form(options, words, ask, live) {
  const names = options.map((one) => one.name);
  const reset = el("button", { type: "button", class: "hl-plain", onclick: () => ask(names, null) }, words.reset);
  return [...fields(options, ask, live), reset];
}

/** Rows of numbers, or of texts, under the names of their columns. */
export function table(names, keys, rows, corner) {
  const head = el("tr", {}, el("th", {}, corner), ...keys.map((key) => el("th", {}, key)));
  const said = (value) => (typeof value === "string" ? value : Number.isNaN(value) ? "" : decimals(value, 3));
  const body = rows.map((row, i) =>
    el("tr", {}, el("th", { scope: "row" }, names[i]), ...Array.from(row, (value) => el("td", {}, said(value)))),
  );
  return el(
    "div",
    { class: "hl-table", tabindex: "0" },
    el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)),
  );
}

const cell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text; // spreadsheets take such texts for formulas
  return `"${safe.replaceAll('"', '""')}"`;
};

/** The same as a file of comma-separated values, a line per cell. */
function csv(queries, keys, rows, words) {
  const lines = [["row", words.query, "column", words.key, words.weight].map(cell).join(",")];
  rows.forEach((row, i) =>
    row.forEach((value, j) => {
      lines.push([i, cell(queries[i]), j, cell(keys[j]), value.toFixed(6)].join(","));
    }),
  );
  return lines.join("\r\n") + "\r\n";
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A figure as it is kept: dark on white, with its title. */
function kept(figure, title) {
  const margin = { ...figure.layout.margin, t: figure.layout.margin.t + 44 };
  return {
    data: figure.data,
    layout: {
      ...figure.layout,
      margin,
      height: figure.layout.height + 44,
      title: { text: title, x: 0, xref: "container", y: 1, yanchor: "top", pad: { t: 12, l: 12 }, font: { size: 15 } },
      font: { ...figure.layout.font, color: "#1f2933" },
      paper_bgcolor: "#fff",
      plot_bgcolor: "#fff",
    },
  };
}

/** Python that makes the picture, to copy. */
export function code(text, place, words) {
  const lines = fill(text, place);
  const copy = el(
    "button",
    { type: "button", class: "hl-plain", onclick: () => copied(lines) },
    words.copy,
  );
  return [el("pre", { tabindex: "0" }, lines), copy];
}

/** The files that the picture can be kept as. */
export function downloads(stage, close) {
  const { kind, map, host } = stage;
  const { words, translation } = stage.told;
  const title = [stage.title.textContent, translation].filter(Boolean).join(" · ");
  const name = ["headlight", stage.state.view, ...(kind ? [kind.code, ...kind.open] : [])].join("-");
  const picture = (format) => async () => {
    const { data, layout } = kept(map.drawn, title);
    const size = { width: layout.width, height: layout.height, scale: 2 };
    (await host.plotly()).downloadImage({ data, layout }, { format, filename: name, ...size });
  };
  const web = async () => save("headlight-stage.html", "text/html", await file(stage));
  const numbers = () =>
    save(`${name}.csv`, "text/csv", csv(kind.queries, kind.keys, kind.map(...kind.open, true), words));
  const listed = ([names, columns, rows]) => {
    const lines = rows.map((row, i) => [cell(names[i]), ...Array.from(row, (value) => cell(String(value)))]);
    return [["", ...columns].map(cell), ...lines].map((line) => line.join(",") + "\r\n").join("");
  };
  const { table: grid } = stage.shown() ?? {};
  const items = [
    ["png", picture("png")],
    ["svg", picture("svg")],
  ];
  if (host.shell) items.push(["html", web]);
  if (kind && stage.state.view === "map") items.push(["csv", numbers]);
  else if (grid) items.push(["csv", () => save(`${name}.csv`, "text/csv", listed(grid))]);
  const button = ([what, make]) =>
    el("button", { type: "button", class: "hl-item", onclick: () => (close(), make()) }, words[what]);
  return items.map(button);
}
