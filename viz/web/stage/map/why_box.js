// What stands above the picture of the view Why: both sides of a cell as bars, and which picture is drawn. The elements
// stay from head to head; their texts and widths change.

import { PICTURES, nameOf, partText } from "../../recording/pictures/why_picture.js";
import { totalOf } from "../../recording/pictures/why_parts.js";
import { formatNumber } from "../../recording/text/sentences.js";
import { canCut, cutButton } from "../changes/cuts.js";
import { button, dress, el, keepFocus, setChildren } from "../frame/dom.js";
import { tabs } from "../frame/widgets.js";
import { rowView } from "./row_views.js";
import { sidesOfOpen } from "./why_sides.js";
import { FOLDED, choose } from "./why_state.js";
import { stepsOf, tokensOf, walk, writerOf } from "./why_way.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../../recording/message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {import("../../recording/pictures/why_parts.js").Part} Part */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {"query" | "key"} SideName */
/** @typedef {{text: string, look?: "module" | "others", press?: () => void}} Title  of a part; `press`: it is a button */

/** A part of a side: its name, which may be a button, its bar and its number. */
class PartRow {
  constructor() {
    this.press = () => {};
    this.button = button("link", "", () => this.press());
    this.name = el("span.name");
    this.bar = el("span.bar-of-part");
    this.number = el("span.number");
    /** @type {HTMLElement | null} a button that cuts the path of the part */ this.cut = null;
    this.box = el("li", this.name, el("span.track", this.bar), this.number);
  }

  /**
   * Draws the bar from zero to a value.
   * @param {number} value
   * @param {[number, number]} ends  of the range of all bars
   */
  measure(value, [low, high]) {
    const share = (/** @type {number} */ part) => `${(100 * part) / (high - low || 1)}%`;
    const [from, to] = [Math.min(0, value), Math.max(0, value)];
    Object.assign(this.bar.style, { left: share(from - low), width: share(to - from) });
    dress(this.bar, { less: value < 0 });
  }

  /** @param {Title} title */
  write({ text, look, press }) {
    if (press) {
      this.press = press;
      dress(this.button, { module: look === "module", others: look === "others" });
      this.button.textContent = text;
      this.button.ariaExpanded = look ? "false" : null;
    }
    setChildren(this.name, press ? this.button : text);
  }

  /** @param {HTMLElement | null} cut */
  offer(cut) {
    this.cut?.remove();
    if (cut) this.box.append(cut);
    this.cut = cut;
  }
}

/** One side of a cell: a bar for each part, and their sum. */
class Side {
  /** @type {PartRow[]} */ rows = [];

  /** @param {Stage} stage @param {SideName} name */
  constructor(stage, name) {
    this.stage = stage;
    this.name = name;
    this.title = el("h3");
    this.sum = el("span.number#why-sum");
    this.sumRow = el("li.sum", el("span.name", stage.say("why_sum")), el("span.track"), this.sum);
    this.list = el("ol.parts");
    this.box = el("section", { "data-side": name }, this.title, this.list);
  }

  /** @param {WhyPayload} why @param {Part[]} parts @param {string} title */
  render(why, parts, title) {
    const { stage, name, rows } = this;
    const { place } = why;
    const values = parts.map(({ numbers }) => numbers[place.key]);
    const cuts = canCut(stage);
    const write = (/** @type {number} */ value) => formatNumber(value, "+.2f", stage.language);
    parts.forEach((part, i) => {
      const row = (rows[i] ??= new PartRow());
      row.write(titleOf(stage, place, part, name));
      row.measure(values[i], [Math.min(0, ...values), Math.max(0, ...values)]);
      row.number.textContent = write(values[i]);
      row.offer(cuts ? cutButton(stage, place, part.name, name === "query" ? "queries" : "keys") : null);
    });
    this.title.textContent = title;
    this.sum.textContent = write(totalOf(parts)[place.key]);
    dress(this.list, { cuttable: cuts });
    setChildren(this.list, rows.slice(0, parts.length).map(({ box }) => box), this.sumRow);
  }
}

/**
 * What a part is called, and what a click on its name does: a head opens, a module unfolds.
 * @param {Stage} stage
 * @param {CellPlace} cell
 * @param {Part} part
 * @param {SideName} side
 * @returns {Title}
 */
function titleOf(stage, cell, part, side) {
  const { folds } = stage.state.why;
  const { name, count } = part;
  if (name && count === 1) {
    const place = writerOf(stage, cell, name, side);
    return { text: partText(name, stage.say), ...(place && { press: () => walk(stage, place, cell) }) };
  }
  const unfolded = name ? { modules: [...folds.modules, name] } : { all: true };
  const press = () => choose(stage, { folds: { ...folds, ...unfolded } });
  return { text: `${nameOf(part, stage.say)} ▸`, look: name ? "module" : "others", press };
}

export class WhyBox {
  /** The message and the view whose numbers are shown; "" without any. */
  filled = "";

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const { say, words } = stage;
    this.queries = new Side(stage, "query");
    this.keys = new Side(stage, "key");
    const pictures = PICTURES.map((code) => /** @type {[string, string]} */ ([code, say(`why_picture_${code}`)]));
    const pick = (/** @type {Record<string, string>} */ change) => choose(stage, change);
    this.tabs = tabs(words, "why_pictures", "picture", pictures, null, pick);
    this.foldButton = button("plain#why-fold", say("why_fold"), () => choose(stage, { folds: FOLDED }));
    this.pictures = el("div.why-pictures", this.tabs);
    const sides = el("div.sides-of-cell", this.queries.box, this.keys.box);
    this.box = el("section.why#why", { hidden: true, "aria-label": say("why") }, sides, this.pictures);
    // Not inert while it waits, which would take the focus away.
    this.box.addEventListener("click", (event) => this.box.ariaBusy === "true" && event.stopPropagation(), true);
  }

  /**
   * Shows the cell that is open. What is shown of the one before, the picture of the view Writes too, stays and is seen
   * to wait until the numbers are here.
   */
  render() {
    const { stage, box } = this;
    const { crumbs, message, root, says, state } = stage;
    setChildren(crumbs, stepsOf(stage));
    const open = rowView(stage);
    const answer = open?.payloadOf(stage) ?? null;
    const shown = `${state.view} ${message.stamp}`;
    if (answer) this.filled = "reason" in answer ? "" : shown;
    if (answer && "mask" in answer) keepFocus(box, () => this.fill(answer));
    const isFilled = open !== null && this.filled === shown;
    Object.assign(box, { hidden: !isFilled || state.view !== "why", ariaBusy: String(isFilled && !answer) });
    dress(root, { "asks-why": open !== null, "no-why": open !== null && !isFilled });
    if (answer && !isFilled) says.textContent = ""; // the heading says why there are no numbers
  }

  /** @param {WhyPayload} why */
  fill(why) {
    const { stage } = this;
    const { folds, picture } = stage.state.why;
    const { queries, keys } = sidesOfOpen(stage, why);
    const tokens = tokensOf(stage, why.place);
    this.queries.render(why, queries, stage.say("why_asked", tokens));
    this.keys.render(why, keys, stage.say("why_found", tokens));
    this.tabs.mark(picture);
    setChildren(this.pictures, this.tabs, (folds.all || folds.modules.length > 0) && this.foldButton);
  }
}
