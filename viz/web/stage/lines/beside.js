// Two translations beside each other, A ("before") and B ("after"), and B minus A on the tokens of B.

import { align } from "../../recording/maps/differences.js";
import { dress, el, markDifferences, setChildren } from "../frame/dom.js";

/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("./pointing.js").Lit} Lit */
/** @typedef {import("../frame/elements.js").Part} Part */

const SIDES = /** @type {const} */ (["before", "after"]);

/** 0 for A, else 1. @param {Part} part @returns {0 | 1} */
const number = ({ version }) => (version === "before" ? 0 : 1);

export class Beside {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.all = Object.values(stage.parts);
    const side = (/** @type {"before" | "after"} */ version) => {
      const letter = stage.say(version);
      const sign = el("span.letter", { "aria-hidden": "true" }, letter);
      return el("div.side", { "data-side": letter }, sign, stage.parts[version]?.lines?.box);
    };
    this.texts = el("div.texts#texts");
    this.sides = { before: side("before"), after: side("after") };
    this.strips = el("div.strips", Object.values(this.sides));
    for (const { slot, title, says, map } of this.all) setChildren(slot, title, says, map.box);
    this.pictures = el("div.three", this.all.map(({ slot }) => slot));
  }

  /** Pixels of both strips, one over the other. */
  get height() {
    const last = this.strips.lastElementChild;
    return last ? last.getBoundingClientRect().bottom - this.strips.getBoundingClientRect().top : 0;
  }

  get payload() {
    return /** @type {import("../main/message.js").ComparingPayload} */ (this.stage.message.comparing);
  }

  fillIn() {
    const { payload, stage } = this;
    const line = (/** @type {"before" | "after"} */ version, /** @type {number} */ side) => {
      const words = markDifferences(payload.words, side ? 1 : 0, "new");
      return this.text(stage.say(version), words, payload.about[side]);
    };
    const lines = SIDES.map(line);
    const other = this.donor();
    if (other) lines.splice(payload.patching && "reverse" in payload.patching && payload.patching.reverse ? 1 : 0, 0, other);
    const changes = stage.patching?.isPatched ? stage.patching.changes : stage.patching?.hint;
    const row = el("div.put", other ? lines.pop() : null, changes); // as high before something is put in as then
    setChildren(this.texts, lines, row, payload.note && el("p.label#note", payload.note));
  }

  /**
   * What a model wrote.
   * @param {string} letter  of the text that it read
   * @param {import("../frame/dom.js").Children[]} words
   * @param {string} [about]
   */
  text(letter, words, about = "") {
    const look = /** @type {"span.x"} */ (`span.translation#translation-${letter.toLowerCase()}`);
    const text = el(look, words.length ? words : this.stage.say("nothing"));
    return el("p.text", { dir: "auto" }, el("span.letter", letter), el("span", text, el("span.label", about)));
  }

  /** The text that parts are taken from, where both others are one without them and with them; else null. */
  donor() {
    const { patched, patching } = this.payload;
    if (!patched?.codes.length) return null;
    const isReverse = Boolean(patching && "reverse" in patching && patching.reverse);
    return this.text(isReverse ? "B" : "A", [patched.texts[isReverse ? 1 : 0]]);
  }

  /** Why a part has no map; "" where it has one. @param {Part} part */
  lacks({ version, kind }) {
    const { stage } = this;
    const open = this.openHead;
    const [layer, head] = open;
    const values = { name: stage.say(version), layer, head };
    if (!stage.sides[version].kinds.size) return stage.say(version === "difference" ? "no_difference" : "no_attention");
    if (!kind) return stage.say("lacks_kind", values);
    return kind.holds(kind.placeOf(open)) ? "" : stage.say("lacks_head", values);
  }

  /** The layer and head that are open in the tiles. @returns {import("../../recording/text/naming.js").Head} */
  get openHead() {
    const { kind } = this.stage;
    return kind ? kind.headAt(kind.open) : [0, 0];
  }

  /** Shows the lines of one side: there is no room for both. @param {"before" | "after"} shown */
  showLines(shown) {
    for (const version of SIDES) this.sides[version].hidden = version !== shown;
    const lines = this.stage.parts[shown]?.lines;
    if (lines) lines.spots = null; // tokens have no place while they are hidden
  }

  /** Returns the parts that are still to be drawn. */
  render() {
    const { stage } = this;
    this.showLines(stage.version === "before" ? "before" : "after");
    return this.all.filter((part) => {
      const { version, slot, kind } = part;
      slot.hidden = !stage.kind || (version === "difference" && stage.state.view !== "map");
      dress(slot, { chosen: version === stage.version });
      const lacks = stage.kind ? this.lacks(part) : "";
      part.says.textContent = lacks;
      part.map.box.hidden = Boolean(lacks);
      if (slot.hidden) return false;
      if (!lacks && kind && stage.kind) kind.open = kind.placeOf(this.openHead);
      const about = version === "difference" ? stage.say("minus") : this.payload.names[number(part)];
      part.title.textContent = [about, !lacks && kind?.role()].filter(Boolean).join(" · ");
      return !lacks && part !== stage.part;
    });
  }

  /** The rows and columns of both that belong together. @param {string} code */
  pairs(code) {
    const [before, after] = SIDES.map((version) => this.stage.sides[version].kinds.get(code));
    return before && after && after.once("pairs", () => align(before.tokens, after.tokens));
  }

  /**
   * The row and column of a part that belong to those lit in another part.
   * @param {Part} litPart
   * @param {Part} part
   * @param {Lit} lit  in `litPart`
   * @returns {Lit}
   */
  partner(litPart, part, lit) {
    const from = number(litPart);
    const to = number(part);
    if (from === to) return lit;
    const pairs = this.pairs(litPart.kind?.code ?? "");
    const place = (/** @type {"row" | "column"} */ axis) => {
      const match = pairs?.[`${axis}s`].find((pair) => pair[from] === lit[axis]);
      return match ? match[to] : -1;
    };
    return { both: lit.both, row: place("row"), column: place("column") };
  }
}
