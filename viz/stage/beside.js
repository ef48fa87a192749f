// Two translations beside each other, A ("before") and B ("after"), and B minus A on the tokens of B.
// @ts-nocheck

import { aligned } from "../recording/differences.js";
import { dress, el, marked, put } from "./dom.js";

const SIDES = ["before", "after"];

const number = ({ version }) => (version === "before" ? 0 : 1);

export class Beside {
  constructor(stage) {
    Object.assign(this, { stage, all: Object.values(stage.parts) });
    const side = (version) => {
      const letter = stage.say(version);
      const sign = el("span.letter", { "aria-hidden": "true" }, letter);
      return el("div.side", { "data-side": letter }, sign, stage.parts[version].lines.box);
    };
    this.texts = el("div.texts#texts");
    this.strips = el("div.strips", SIDES.map(side));
    for (const part of this.all) {
      Object.assign(part, { title: el("h3.title"), says: el("p.lacks") });
      part.slot = el("section#side", { "data-version": part.version }, part.title, part.says, part.map.box);
    }
    this.pictures = el("div.three", this.all.map(({ slot }) => slot));
  }

  get told() {
    return this.stage.whole.comparing;
  }

  fillIn() {
    const { told, stage } = this;
    const line = (version, side) => {
      const letter = stage.say(version);
      const said = marked(told.words, side, "new");
      const look = `span.translation#translation-${letter.toLowerCase()}`;
      const text = el(look, said.length ? said : stage.say("nothing"));
      const about = el("span.label", told.about[side]);
      return el("p.text", { dir: "auto" }, el("span.letter", letter), el("span", text, about));
    };
    put(this.texts, SIDES.map(line), told.note && el("p.label#note", told.note));
  }

  lacks({ version, kind }) {
    const { stage } = this;
    const [layer, head] = stage.kind.open;
    const named = { name: stage.say(version), layer, head };
    if (!stage.sides[version].kinds.size) return stage.say(version === "difference" ? "no_difference" : "no_attention");
    if (!kind) return stage.say("lacks_kind", named);
    return kind.holds(stage.kind.open) ? "" : stage.say("lacks_head", named);
  }

  /** Returns the parts that are still to be drawn. */
  render() {
    const { stage } = this;
    return this.all.filter((part) => {
      const { version, slot, kind } = part;
      slot.hidden = !stage.kind || (version === "difference" && stage.state.view !== "map");
      dress(slot, { chosen: version === stage.version });
      const lacks = stage.kind ? this.lacks(part) : "";
      part.says.textContent = lacks;
      part.map.box.hidden = Boolean(lacks);
      if (slot.hidden) return false;
      if (!lacks) kind.open = stage.kind.open;
      const about = version === "difference" ? stage.say("minus") : this.told.names[number(part)];
      part.title.textContent = [about, !lacks && kind.role()].filter(Boolean).join(" · ");
      return !lacks && part !== stage.part;
    });
  }

  /** The rows and columns of both that belong together. */
  pairs(code) {
    const [before, after] = SIDES.map((version) => this.stage.sides[version].kinds.get(code));
    return before && after && after.once("pairs", () => aligned(before.tokens, after.tokens));
  }

  /** What in a part belongs to a row and column of another one. */
  partner(own, part, there) {
    const [from, to] = [own, part].map(number);
    if (from === to) return there;
    const pairs = this.pairs(own.kind.code);
    const place = (axis) => pairs?.[`${axis}s`].find((pair) => pair[from] === there[axis])?.[to] ?? -1;
    return { both: there.both, row: place("row"), column: place("column") };
  }
}
