// Two translations beside each other, A and B, and their difference: one choice of kind and head, three pictures.
// A version is "before" (A), "after" (B) or "difference" (B minus A, on the rows and columns of B).

import { fill } from "./data.js";
import { el } from "./dom.js";
import { drawBeside } from "./picture.js";

const SIDES = ["before", "after"];
const ALL = [...SIDES, "difference"];
const HEIGHT = 40; // pixels between two lines of tokens
const NOWHERE = { row: -1, column: -1 };

const number = (version) => (version === "before" ? 0 : 1);

export class Beside {
  constructor(stage) {
    this.stage = stage;
    this.parts = Object.fromEntries(ALL.map((version) => [version, this.part(version)]));
    const side = (version) =>
      el(
        "div",
        { class: "hl-side", "data-side": this.words[version] },
        el("span", { class: "hl-letter", "aria-hidden": "true" }, this.words[version]),
        this.parts[version].lines.box,
      );
    this.texts = el("div", { class: "hl-texts", "data-testid": "stage-texts" });
    this.strips = el("div", { class: "hl-strips" }, ...SIDES.map(side));
    this.pictures = el("div", { class: "hl-three" }, ...ALL.map((version) => this.parts[version].slot));
  }

  part(version) {
    const part = { version, map: this.stage.newMap(version) };
    if (version !== "difference") part.lines = this.stage.newLines(version, HEIGHT);
    part.title = el("h3", { class: "hl-title" });
    part.says = el("p", { class: "hl-lacks" });
    const test = { "data-testid": "stage-side", "data-version": version };
    part.slot = el("section", test, part.title, part.says, part.map.box);
    return part;
  }

  get words() {
    return this.stage.whole.words;
  }

  get told() {
    return this.stage.whole.comparing;
  }

  /** The lines and the map that the stage takes for its own while a version is chosen. */
  of(version) {
    return { lines: this.parts[version === "before" ? "before" : "after"].lines, map: this.parts[version].map };
  }

  /** Both translations with the words marked that differ, and how probable they are. */
  fillIn() {
    const { told, words, stage } = this;
    const line = (version) => {
      const side = number(version);
      const marked = told.words
        .filter((pair) => pair[side])
        .flatMap((pair) => [pair[0] === pair[1] ? pair[side] : el("span", { class: "hl-new" }, pair[side]), " "]);
      const test = { class: "hl-translation", "data-testid": `stage-translation-${words[version].toLowerCase()}` };
      return el(
        "p",
        { class: "hl-text", dir: "auto" },
        el("span", { class: "hl-letter" }, words[version]),
        el(
          "span",
          {},
          el("span", test, ...(marked.length ? marked.slice(0, -1) : [words.nothing])),
          el("span", { class: "hl-label" }, told.about[side]),
        ),
      );
    };
    this.texts.replaceChildren(
      ...SIDES.map(line),
      ...(told.note ? [el("p", { class: "hl-label", "data-testid": "stage-note" }, told.note)] : []),
    );
    for (const version of ALL) this.parts[version].kinds = stage.kindsOf(version);
  }

  /** The token lines of both sides. */
  lines() {
    return SIDES.map((version) => this.parts[version].lines);
  }

  /** Takes over the chosen kind: writes both lines of tokens. */
  build() {
    for (const part of Object.values(this.parts)) {
      part.kind = part.kinds.get(this.stage.state.kind) ?? null;
      part.lines?.build(this.stage.toldOf(part.version), part.kind);
    }
  }

  /** Whether a kind is one of those that are shown. */
  holds(kind) {
    return Object.values(this.parts).some((part) => part.kind === kind);
  }

  /** What of the opened head a version does not have, in a sentence; empty where it has it. */
  lacks(part) {
    const { words, stage } = this;
    const [layer, head] = stage.kind.open;
    const name = words[part.version];
    if (!part.kinds.size) return part.version === "difference" ? words["no difference"] : words["no attention"];
    if (!part.kind) return fill(words["lacks kind"], { name });
    return stage.inside(part.kind, stage.kind.open) ? "" : fill(words["lacks head"], { name, layer, head });
  }

  /** Draws the pictures beside the chosen one; promises that it is done. */
  render() {
    const { stage } = this;
    const { view } = stage.state;
    const drawn = [];
    for (const part of Object.values(this.parts)) {
      const lacks = stage.kind ? this.lacks(part) : "";
      part.slot.hidden = !stage.kind || (part.version === "difference" && view !== "map");
      part.slot.classList.toggle("hl-chosen", part.version === stage.version);
      part.says.textContent = lacks;
      part.map.box.hidden = Boolean(lacks);
      if (part.slot.hidden) continue;
      const role = !lacks && part.kind.roles?.[stage.kind.open[0]][stage.kind.open[1]];
      const about = part.version === "difference" ? this.words.minus : this.told.names[number(part.version)];
      part.title.textContent = [about, role].filter(Boolean).join(" · ");
      if (!lacks) part.kind.open = stage.kind.open;
      if (lacks || part.map === stage.map) continue;
      drawn.push(drawBeside(stage, part.map, stage.toldOf(part.version), part.kind));
    }
    return Promise.all(drawn);
  }

  /** What is pointed at or pinned: {of, token} or {of, row, column}; null for nothing. */
  pointed() {
    return this.stage.point ?? this.stage.pinOf();
  }

  /** The row and the column that are lit in a version: its own, or those that belong to them. */
  lit(version) {
    const from = this.pointed();
    const own = from && this.parts[from.of];
    if (!own?.kind) return NOWHERE;
    const there = from.token ? own.lines.of(...from.token) : { row: from.row, column: from.column, both: true };
    if (number(from.of) === number(version)) return { ...there, token: from.token };
    const pairs = this.told.aligned[own.kind.code] ?? { rows: [], columns: [] };
    const partner = (found, place) =>
      found.find((pair) => pair[number(from.of)] === place)?.[number(version)] ?? -1;
    const { both } = there;
    return { row: partner(pairs.rows, there.row), column: partner(pairs.columns, there.column), both };
  }

  /** Lights tokens, lines, rows and columns on both sides. */
  light() {
    const { stage } = this;
    const pin = stage.pinOf();
    for (const version of ALL) {
      const { kind, lines, map } = this.parts[version];
      const lit = this.lit(version);
      if (map !== stage.map && kind) map.light(stage.litIn(lit));
      if (!lines) continue;
      lines.light(lit, pin?.of === version ? pin.token : null, null);
      if (kind && stage.inside(kind, stage.kind.open)) {
        kind.open = stage.kind.open;
        lines.draw(stage.linesOf(kind), lit, null, stage.narrow);
      } else lines.clear();
    }
  }
}
