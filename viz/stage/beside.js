// Two translations beside each other, A and B, and their difference: one choice of kind and head, three pictures.
// A version is "before" (A), "after" (B) or "difference" (B minus A, on the rows and columns of B).

import { fill } from "./data.js";
import { el, marked } from "./dom.js";
import { draw } from "./picture.js";

const SIDES = ["before", "after"];
const HEIGHT = 40; // pixels between two lines of tokens
const NOWHERE = { row: -1, column: -1 };

const number = (version) => (version === "before" ? 0 : 1);

export class Beside {
  constructor(stage) {
    this.stage = stage;
    this.words = stage.whole.words;
    this.parts = Object.fromEntries([...SIDES, "difference"].map((version) => [version, this.part(version)]));
    this.all = Object.values(this.parts);
    const letter = (version) => el("span.hl-letter", { "aria-hidden": "true" }, this.words[version]);
    const side = (version) =>
      el("div.hl-side", { "data-side": this.words[version] }, letter(version), this.parts[version].lines.box);
    this.texts = el("div.hl-texts", { "data-testid": "stage-texts" });
    this.strips = el("div.hl-strips", {}, SIDES.map(side));
    this.pictures = el("div.hl-three", {}, this.all.map((part) => part.slot));
  }

  part(version) {
    const map = this.stage.newMap(version);
    const lines = version === "difference" ? null : this.stage.newLines(version, HEIGHT);
    const [title, says] = [el("h3.hl-title"), el("p.hl-lacks")];
    const slot = el("section", { "data-testid": "stage-side", "data-version": version }, title, says, map.box);
    return { version, map, lines, title, says, slot };
  }

  get told() {
    return this.stage.whole.comparing;
  }

  /** The stage's own lines and map while a version is chosen. */
  of(version) {
    return { lines: this.parts[SIDES[number(version)]].lines, map: this.parts[version].map };
  }

  fillIn() {
    const { told, words, stage } = this;
    const line = (version, side) => {
      const said = marked(told.words, side, "hl-new");
      const test = { "data-testid": `stage-translation-${words[version].toLowerCase()}` };
      const text = el("span.hl-translation", test, said.length ? said : words.nothing);
      const about = el("span.hl-label", {}, told.about[side]);
      return el("p.hl-text", { dir: "auto" }, el("span.hl-letter", {}, words[version]), el("span", {}, text, about));
    };
    const note = told.note ? [el("p.hl-label", { "data-testid": "stage-note" }, told.note)] : [];
    this.texts.replaceChildren(...SIDES.map(line), ...note);
    for (const part of this.all) part.kinds = stage.kindsOf(part.version);
  }

  build() {
    for (const part of this.all) {
      part.kind = part.kinds.get(this.stage.state.kind) ?? null;
      part.lines?.build(this.stage.toldOf(part.version), part.kind);
    }
  }

  holds(kind) {
    return this.all.some((part) => part.kind === kind);
  }

  /** What a version lacks of the opened head, in a sentence. */
  lacks(part) {
    const { words, stage } = this;
    const [layer, head] = stage.kind.open;
    const name = words[part.version];
    if (!part.kinds.size) return part.version === "difference" ? words.no_difference : words.no_attention;
    if (!part.kind) return fill(words.lacks_kind, { name });
    return part.kind.holds(stage.kind.open) ? "" : fill(words.lacks_head, { name, layer, head });
  }

  render() {
    const { stage } = this;
    const drawn = [];
    for (const part of this.all) {
      const { version, slot, kind, map } = part;
      slot.hidden = !stage.kind || (version === "difference" && stage.state.view !== "map");
      slot.classList.toggle("hl-chosen", version === stage.version);
      const lacks = stage.kind ? this.lacks(part) : "";
      part.says.textContent = lacks;
      map.box.hidden = Boolean(lacks);
      if (slot.hidden) continue;
      if (!lacks) kind.open = stage.kind.open;
      const about = version === "difference" ? this.words.minus : this.told.names[number(version)];
      const role = !lacks && kind.roles?.[kind.open[0]][kind.open[1]];
      part.title.textContent = [about, role].filter(Boolean).join(" · ");
      if (!lacks && map !== stage.map) drawn.push(draw(stage, map, stage.toldOf(version), kind));
    }
    return Promise.all(drawn);
  }

  /** What is lit in a version: its own row and column, or those that belong to them. */
  lit(version) {
    const from = this.stage.point ?? this.stage.pinOf(); // {of, token} or {of, row, column}
    const own = from && this.parts[from.of];
    if (!own?.kind) return NOWHERE;
    const there = from.token ? own.lines.of(...from.token) : { row: from.row, column: from.column, both: true };
    const [here, side] = [number(from.of), number(version)];
    if (here === side) return { ...there, token: from.token };
    const pairs = this.told.aligned[own.kind.code] ?? { rows: [], columns: [] };
    const partner = (found, place) => found.find((pair) => pair[here] === place)?.[side] ?? -1;
    return { ...there, row: partner(pairs.rows, there.row), column: partner(pairs.columns, there.column) };
  }

  light() {
    const { stage } = this;
    const pin = stage.pinOf();
    for (const { version, kind, lines, map } of this.all) {
      const lit = this.lit(version);
      if (map !== stage.map && kind) map.light(stage.litIn(lit));
      if (!lines) continue;
      lines.light(lit, pin?.of === version ? pin.token : null, null);
      const has = kind?.holds(stage.kind.open);
      if (has) kind.open = stage.kind.open;
      lines.draw(has ? stage.linesOf(kind) : [], lit, null, stage.narrow);
    }
  }
}
