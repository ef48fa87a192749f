// How a translation came about: what stands below the stage where it has been kept as a file.

import { el } from "../frame/dom.js";

/** @typedef {import("./message.js").ReportPart} ReportPart */

/** @param {string[]} cells @param {number} number  of the row */
const row = (cells, number) =>
  el(
    "tr",
    cells.map((cell) => el(number ? "td" : "th", cell)),
  );

/** @param {ReportPart} part */
function element({ tag, text = "", rows = [] }) {
  if (tag === "a") return el("p", el("a", { href: text, rel: "noreferrer" }, text));
  return el(tag, rows.length ? rows.map(row) : text);
}

/** The report below the stage. @param {ReportPart[]} parts */
export function report(parts) {
  return el("section.report", parts.map(element));
}
