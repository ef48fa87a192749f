// Two translations beside each other, A ("before") and B ("after"), and B minus A on the rows and columns of B.

import { fill } from "./data.js";
import { dress, el, marked, put } from "./dom.js";

const SIDES = ["before", "after"];

const number = ({ version }) => (version === "before" ? 0 : 1);

export class Beside {
  constructor(stage) {
    Object.assign(this, { stage, words: stage.whole.words, all: Object.values(stage.parts) });
    const letter = (version) => el("span.letter", { "aria-hidden": "true" }, this.words[version]);
    const side = (version) =>
      el("div.side", { "data-side": this.words[version] }, letter(version), stage.parts[version].lines.box);
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
    const { told, words } = this;
    const line = (version, side) => {
      const said = marked(told.words, side, "new");
      const part = `translation-${words[version].toLowerCase()}`;
      const text = el(`span.translation#${part}`, said.length ? said : words.nothing);
      const about = el("span.label", told.about[side]);
      return el("p.text", { dir: "auto" }, el("span.letter", words[version]), el("span", text, about));
    };
    put(this.texts, SIDES.map(line), told.note && el("p.label#note", told.note));
  }

  lacks({ version, kind }) {
    const { words, stage } = this;
    const [layer, head] = stage.kind.open;
    const name = words[version];
    if (!stage.sides[version].kinds.size) return version === "difference" ? words.no_difference : words.no_attention;
    if (!kind) return fill(words.lacks_kind, { name });
    return kind.holds(stage.kind.open) ? "" : fill(words.lacks_head, { name, layer, head });
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
      const about = version === "difference" ? this.words.minus : this.told.names[number(part)];
      part.title.textContent = [about, !lacks && kind.role()].filter(Boolean).join(" · ");
      return !lacks && part !== stage.part;
    });
  }

  /** The row and column of a part that belong to those of another one. */
  partner(own, part, there) {
    const [from, to] = [own, part].map(number);
    if (from === to) return there;
    const pairs = this.told.aligned[own.kind.code] ?? { rows: [], columns: [] };
    const place = (found, one) => found.find((pair) => pair[from] === one)?.[to] ?? -1;
    return { both: there.both, row: place(pairs.rows, there.row), column: place(pairs.columns, there.column) };
  }
}
