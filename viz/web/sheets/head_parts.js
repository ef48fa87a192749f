// What a head does over many texts: what explains it as bars, rows as text with their keys shaded, histograms.

import { formatNumber } from "../recording/text/sentences.js";
import { el, setChildren } from "../stage/frame/dom.js";
import { Save } from "./save.js";

/** @typedef {import("./types.js").Histogram} Histogram */
/** @typedef {import("./types.js").Piece} Piece */

const WRITTEN = 7; // names under a histogram, at most

export class SharesView {
  root = el("div.sheet-shares");

  /** @param {import("./types.js").Shares} part */
  show({ bars }) {
    setChildren(this.root, bars.map(({ title, shares, words }) => {
      const cells = shares.map(({ share, colour, ink, label, about }) =>
        el("i", { style: `flex: ${share} 1 0; background: ${colour}; color: ${ink}`, title: about }, label),
      );
      const bar = el("div", { role: "img", "aria-label": `${title}: ${words}` }, cells);
      return el("div.share-bar", el("small", title), bar, el("small", { "aria-hidden": "true" }, words));
    }));
  }
}

export class RowsView {
  root = el("ol.rows");

  /** @param {import("./types.js").Rows} part */
  show({ label, rows }) {
    this.root.ariaLabel = label;
    setChildren(this.root, rows.map((row) => {
      const label = row.href ? el("a", { href: row.href, target: "_self" }, row.label) : row.label;
      return el("li", el("span", label), el("span", { dir: "auto" }, row.pieces.map(pieceOf)));
    }));
  }
}

/** A part of a text as it is drawn; who rests on a key reads its weight. @param {Piece} piece */
function pieceOf(piece) {
  if (typeof piece === "string") return piece;
  const [text, weight, isQuery] = piece;
  const written = weight?.toFixed(2);
  const shaded = written === undefined ? text : el("mark", { style: `--hl-weight: ${written}`, title: written }, text);
  return isQuery ? el("b.query", shaded) : shaded;
}

export class HistogramsView {
  root = el("div.histograms");

  /** @param {import("./types.js").Context} context */
  constructor({ host: { saving } }) {
    this.saving = saving;
  }

  /** @param {import("./types.js").Histograms} part */
  show({ histograms }) {
    setChildren(this.root, histograms.map((histogram) => figureOf(histogram, this.menuOf(histogram))));
  }

  /** @param {Histogram} histogram */
  menuOf({ save }) {
    if (!this.saving || !save) return null;
    const menu = new Save(this.saving);
    menu.show(save);
    return menu.root;
  }
}

/**
 * A histogram: a bar for each bin, as high as its share of the largest one.
 * @param {Histogram} histogram
 * @param {Element | null} menu  beside its title
 */
function figureOf({ axis, value, bins, shares, marks }, menu) {
  const most = Math.max(...shares) || 1;
  const written = shares.map((share) => formatNumber(share, ".1%", document.documentElement.lang || "en"));
  const every = Math.ceil(bins.length / WRITTEN);
  const bars = shares.map((share, i) => [
    marks?.[i] && el("b.row-mark", { title: marks[i] }, "▼"),
    el("i", { style: `height: ${(100 * share) / most}%`, title: `${bins[i]}: ${written[i]}` }),
  ]);
  const names = bins.map((name, i) => el("span", i % every ? "" : name));
  const inWords = (/** @type {string} */ name, /** @type {number} */ i) => [name, written[i], marks?.[i] && `▼ ${marks[i]}`].filter(Boolean).join(" ");
  const label = `${axis}; ${value}: ${bins.map(inWords).join(", ")}`;
  return el(
    "div.histogram",
    el("p.picture-title", axis, menu),
    el("small", value),
    el("div.bars", { role: "img", "aria-label": label }, bars.map((bar) => el("span", bar))),
    el("div.bins", { "aria-hidden": "true" }, names),
  );
}
