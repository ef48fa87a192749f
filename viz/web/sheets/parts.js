// The parts of one side of a sheet, below each other. Each keeps its place, and what the visitor has focused in it.

import { dress, el, setChildren } from "../stage/frame/dom.js";
import { Tiles } from "../pages/tiles.js";
import { BoardView } from "./board.js";
import { Controls, arrange } from "./controls.js";
import { CurvesView } from "./curves.js";
import { HistogramsView, RowsView, SharesView } from "./head_parts.js";
import { MapsView } from "./maps.js";
import { FigureView, FilmView } from "./pictures.js";
import { Save } from "./save.js";
import { codeOf } from "./types.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Part} Part */
/** @typedef {import("./types.js").PartView} PartView */

export class Parts {
  /** @type {Map<string, PartView>} by type and name */ views = new Map();
  /** @type {Map<string, Save>} menus of pictures, by the same */ saves = new Map();

  /** @param {string} look @param {Context} context */
  constructor(look, context) {
    this.context = context;
    this.box = el(/** @type {"div.x"} */ (`div.${look}`));
    this.list = el("div.sheet-parts");
  }

  /** @param {Part[]} parts */
  show(parts) {
    const before = this.views;
    this.views = new Map();
    const { saving } = this.context.host;
    const names = parts.map((part) => {
      const name = `${part.type} ${part.name ?? this.unnamed(part.type)}`;
      this.views.set(name, before.get(name) ?? new VIEWS[part.type](this.context));
      return name;
    });
    const views = [...this.views.values()];
    for (const [name, view] of before) if (!this.views.has(name)) view.leave?.();
    const nodes = parts.flatMap(({ save }, i) => (saving && save ? [this.menuOf(names[i], saving, save), views[i].root] : [views[i].root]));
    arrange(this.list, nodes);
    if (!this.list.isConnected) this.box.append(this.list);
    parts.forEach((part, i) => views[i].show(part)); // what stands above a picture is there when it asks for its height
    this.fit();
  }

  /** The menu of a picture. @param {string} name @param {import("./types.js").Saving} saving @param {string} picture */
  menuOf(name, saving, picture) {
    const save = this.saves.get(name) ?? new Save(saving);
    this.saves.set(name, save);
    save.show(picture);
    return save.root;
  }

  /** How many parts of a type without a name stand above. @param {string} type */
  unnamed(type) {
    let n = 0;
    while (this.views.has(`${type} ${n}`)) n++;
    return n;
  }

  fit() {
    for (const view of this.views.values()) view.fit?.();
  }

  leave() {
    for (const view of this.views.values()) view.leave?.();
  }
}

class TilesView {
  /** @param {Context} context */
  constructor({ change }) {
    this.root = el("div.sheet-tiles");
    this.tiles = new Tiles(this.root);
    this.change = change;
  }

  /** @param {import("./types.js").Tiles} part */
  show(part) {
    const { key, label, columns, tiles, value, usual, small = false, height = 52, fills = false, scrolls = false, sets } = part;
    this.tiles.choose = (code) => this.change(sets?.[code] ?? { [key]: codeOf(code, usual) });
    const about = { label, columns, small, height, scrolls, fills, selected: value, tiles };
    this.message = { ...about, stamp: JSON.stringify([about, tiles.map(({ pixels }) => pixels && numberOf(pixels))], withoutPixels) };
    this.fit();
  }

  fit() {
    if (this.message) this.tiles.show(this.message);
  }
}

/** @type {WeakMap<object, number>} */
const numbers = new WeakMap();
let next = 0;

/** A number by which a picture is known: it is not compared pixel by pixel. @param {object} pixels */
function numberOf(pixels) {
  const number = numbers.get(pixels) ?? next++;
  numbers.set(pixels, number);
  return number;
}

/** @param {string} name @param {unknown} value */
const withoutPixels = (name, value) => (name === "pixels" ? undefined : value);

class ControlsView {
  /** @param {Context} context */
  constructor({ change }) {
    this.controls = new Controls("sheet-list", change);
    this.root = this.controls.box;
  }

  /** @param {import("./types.js").ControlsPart} part */
  show({ controls, flows }) {
    dress(this.root, { "sheet-column": !flows });
    this.controls.show(controls);
  }
}

class NoteView {
  root = el("p.note");

  /** @param {import("./types.js").Note} part */
  show({ text, code, quoted }) {
    setChildren(this.root, quoted && [el("q", quoted), " "], code ? el("code", text) : text);
  }
}

class TitleView {
  root = el("p.picture-title");

  /** @param {import("./types.js").Title} part */
  show({ text, small }) {
    setChildren(this.root, text, small && [" ", el("small", small)]);
  }
}

class TextsView {
  /** A list that scrolls takes the focus, so that arrow keys move it. */
  root = el("div.texts-of", { role: "group", tabindex: 0 });

  /** @param {import("./types.js").Texts} part */
  show({ label, texts }) {
    this.root.ariaLabel = label;
    setChildren(this.root, texts.map(({ name, text }) => el("p.note", el("b", name), el("br"), text)));
  }
}

class TableView {
  root = el("div.sheet-table", { role: "region", tabindex: 0 });

  /** @param {import("./types.js").Table} part */
  show({ label, head, rows, height }) {
    this.root.ariaLabel = label;
    this.root.style.maxHeight = height ? `${height}px` : "";
    const names = head && el("thead", el("tr", head.map((name) => el("th", { scope: "col" }, name || "\u00a0"))));
    const line = (/** @type {string[]} */ [first, ...others]) => el("tr", el("th", { scope: "row" }, first), others.map((text) => el("td", text || "\u00a0")));
    setChildren(this.root, el("table", names, el("tbody", rows.map(line))));
    dress(this.root, { headed: head });
  }
}

/** @type {Record<Part["type"], new (context: Context) => PartView>} */
const VIEWS = {
  ...{ tiles: TilesView, board: BoardView, maps: MapsView, curves: CurvesView, figure: FigureView },
  ...{ film: FilmView, table: TableView, note: NoteView, title: TitleView, texts: TextsView, controls: ControlsView },
  ...{ shares: SharesView, rows: RowsView, histograms: HistogramsView },
};
