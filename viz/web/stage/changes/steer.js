// What can be changed on the stage: changes as chips, forced cells, positions. The host computes every change.

import { button, copyText, el, markDifferences, labelAttributes, setChildren } from "../frame/dom.js";
import { canCut } from "./cuts.js";
import { HeadSwitches, has } from "./head_switches.js";
import { fields, form } from "../frame/menus.js";
import { paint } from "./paint.js";
import { WordMenu } from "./word_menu.js";

/** @typedef {import("../main/message.js").FieldValues} FieldValues */
/** @typedef {import("../main/message.js").SteeringPayload} SteeringPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

export class Steering {
  strength = 1;
  /** Whether a cell is forced in "one" head, or the picked ones, or in "all". */
  heads = "one";

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.before = el("p.before#before", { dir: "auto" });
    this.chips = el("div.chips#changes", { role: "group" });
    this.bar = el("div.switches.steering");
    this.switches = new HeadSwitches(this);
    this.wordMenu = new WordMenu(this);
    stage.map.box.addEventListener("pointerdown", (event) => paint(this, event), true);
  }

  get payload() {
    return /** @type {SteeringPayload} */ (this.stage.message.steering);
  }

  get words() {
    return this.stage.words;
  }

  /** @param {import("../main/message.js").Action} action */
  act(action) {
    this.stage.host.act?.(action);
  }

  /** Whether the version that is shown can be changed. */
  get acts() {
    return this.stage.state.version === "after" && this.stage.measure === "weights";
  }

  fillIn() {
    const { payload, words, stage } = this;
    this.wordMenu.ask(null);
    const isChanged = payload.chips.length > 0;
    const pairs = payload.pairs ?? [];
    setChildren(this.before, isChanged && [el("span.label", `${words.before}: `), markDifferences(pairs, 0, "gone")]);
    if (isChanged) setChildren(stage.translation, markDifferences(pairs, 1, "new"));
    const chips = payload.chips.map(([code, text]) => {
      const about = { "data-code": code, ...labelAttributes(stage.say("take_back", { change: text })) };
      return button("chip", `${text} ×`, () => this.act({ do: "drop", code }), about);
    });
    this.chips.ariaLabel = words.changes;
    const unchanged = stage.result.viewNames.includes("words") ? words.unchanged : words.unchanged_text;
    setChildren(
      this.chips,
      chips,
      isChanged ? payload.cost && el("span.cost#cost", payload.cost) : el("span.cost", unchanged),
      isChanged && button("plain", words.copy_link, () => copyText(location.href)),
      isChanged && button("plain", words.reset_all, () => this.act({ do: "reset" })),
      payload.problem && el("span.problem", { role: "alert" }, payload.problem),
      payload.future && el("span.cost", payload.future),
    );
    this.switches.fillIn();
  }

  /**
   * Makes the change that a click on a cell of a large map stands for; false where it stands for none.
   * @param {number} row
   * @param {number} column
   */
  cell(row, column) {
    const { state, kind } = this.stage;
    if (!this.acts) return false;
    if (state.view === "words") {
      this.act({ do: "write", step: row, rank: column });
      return true;
    }
    if (state.view !== "map" || !kind?.plain) return false;
    const heads = this.forcedHeads(kind);
    this.act({ do: "force", kind: kind.code, row, key: column, strength: Number(this.strength), heads });
    return true;
  }

  /** The layers and heads in which a cell is forced; none are all. @param {import("../../recording/maps/kind.js").Kind} kind */
  forcedHeads(kind) {
    const { picked } = this.switches;
    if (this.heads === "all") return [];
    return picked.length ? picked : [kind.headAt(kind.open)];
  }

  /** Fills the bar above the large map. */
  render() {
    const { words } = this;
    const { state, kind } = this.stage;
    const changePositions = (/** @type {FieldValues} */ values) => {
      const isReset = Object.values(values).includes(null);
      this.act({ do: "positions", ...(isReset ? { scale: 1, shift: 0 } : values) });
    };
    /** @type {Record<string, () => import("../frame/dom.js").Children>} by view in which something can be changed */
    const parts = {
      map: () => (kind?.plain ? this.forceControls() : words.with_options),
      mask: () => words.click_cell,
      words: () => words.click_word,
      why: () => words.click_cut,
      positions: () => form(this.payload.positions, words, changePositions),
    };
    const offers = state.view === "why" ? canCut(this.stage) : this.acts && state.view in parts;
    this.bar.hidden = !offers || !kind;
    if (this.bar.hidden) return;
    setChildren(this.bar, parts[state.view]());
  }

  /** How strongly a cell is forced, and where. */
  forceControls() {
    const { words, heads, strength } = this;
    const { picked } = this.switches;
    const pickedText = this.stage.say("chosen_heads", { heads: picked.map((place) => place.join(".")).join(", ") });
    const options = [["one", picked.length ? pickedText : words.one_head], ["all", words.every_head]];
    /** @type {import("../main/message.js").Field[]} */
    const controls = [
      { type: "range", name: "strength", label: words.strength, value: strength, low: 0, high: 1, step: 0.05 },
      { type: "choice", name: "heads", label: words.within, value: heads, options },
    ];
    const set = (/** @type {FieldValues} */ values) => Object.assign(this, values);
    return [el("span", words.click_force), ...fields(controls, set, set)];
  }

  /** The rows and columns of the cells of the large map that are changed. @returns {number[][]} */
  editedCells() {
    const { state, kind, result } = this.stage;
    if (!this.acts || !kind) return [];
    const { forced, cells, locked } = this.payload;
    const { tokens, candidates } = result.target;
    const isInOpenHead = (/** @type {SteeringPayload["forced"][number]} */ [code, , , heads]) =>
      code === kind.code && kind.plain && (!heads.length || has(heads, ...kind.headAt(kind.open)));
    const rank = (/** @type {number} */ step) => (candidates[step] ?? []).findIndex(([name]) => name === tokens[step]);
    /** @type {Record<string, () => number[][]>} */
    const places = {
      map: () => forced.filter(isInOpenHead).map(([, row, key]) => [row, key]),
      mask: () => cells.filter(([code]) => code === kind.code).map(([, row, key]) => [row, key]),
      words: () => Array.from(locked, (_, step) => [step, rank(step)]).filter((place) => place[1] >= 0),
    };
    return places[state.view]?.() ?? [];
  }
}
