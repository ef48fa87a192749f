// What can be changed on the stage: changes as chips, forced cells, positions. The host computes every change.

import { button, copied, el, marked, named, put } from "../frame/dom.js";
import { HeadSwitches, has } from "./head_switches.js";
import { fields, form } from "../frame/menus.js";
import { paint } from "./paint.js";
import { WordMenu } from "./word_menu.js";

/** @typedef {import("../main/message.js").Given} Given */
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

  get told() {
    return /** @type {SteeringPayload} */ (this.stage.whole.steering);
  }

  get words() {
    return this.stage.words;
  }

  /** @param {import("../main/message.js").Action} action */
  act(action) {
    this.stage.host.act?.(action);
  }

  /** Whether anything can be changed in what is shown. */
  get acts() {
    return this.stage.state.version === "after" && this.stage.measure === "weights";
  }

  fillIn() {
    const { told, words, stage } = this;
    this.wordMenu.ask(null);
    const changed = told.chips.length > 0;
    const pairs = told.pairs ?? [];
    put(this.before, changed && [el("span.label", `${words.before}: `), marked(pairs, 0, "gone")]);
    if (changed) put(stage.translation, marked(pairs, 1, "new"));
    const chips = told.chips.map(([code, text]) => {
      const about = { "data-code": code, ...named(stage.say("take_back", { change: text })) };
      return button("chip", `${text} ×`, () => this.act({ do: "drop", code }), about);
    });
    this.chips.ariaLabel = words.changes;
    put(
      this.chips,
      chips,
      changed ? told.cost && el("span.cost#cost", told.cost) : el("span.cost", stage.told.viewNames.includes("words") ? words.unchanged : words.unchanged_text),
      changed && button("plain", words.copy_link, () => copied(location.href)),
      changed && button("plain", words.reset_all, () => this.act({ do: "reset" })),
      told.problem && el("span.problem", { role: "alert" }, told.problem),
      told.future && el("span.cost", told.future),
    );
    this.switches.fillIn();
  }

  /** Whether a click on a cell of a large map changed something. @param {number} row @param {number} column */
  cell(row, column) {
    const { state, kind } = this.stage;
    if (!this.acts) return false;
    if (state.view === "words") this.act({ do: "write", step: row, rank: column });
    else if (state.view === "map" && kind?.plain) {
      const { picked } = this.switches;
      const heads = this.heads === "all" ? [] : picked.length ? picked : [kind.headAt(kind.open)];
      this.act({ do: "force", kind: kind.code, row, key: column, strength: Number(this.strength), heads });
    } else return false;
    return true;
  }

  /** Fills the bar above the large map. */
  render() {
    const { words } = this;
    const { state, kind } = this.stage;
    const moved = (/** @type {Given} */ given) => {
      const isReset = Object.values(given).includes(null);
      this.act({ do: "positions", ...(isReset ? { scale: 1, shift: 0 } : given) });
    };
    this.bar.hidden = !this.acts || !kind || state.view === "inside";
    if (this.bar.hidden) return;
    /** @type {Record<string, () => import("../frame/dom.js").Children>} */
    const parts = {
      map: () => (kind?.plain ? this.forcing() : words.with_options),
      mask: () => words.click_cell,
      words: () => words.click_word,
      positions: () => form(this.told.positions, words, moved),
    };
    put(this.bar, parts[state.view]());
  }

  /** How strongly a cell is forced, and where. */
  forcing() {
    const { words, heads, strength } = this;
    const { picked } = this.switches;
    const chosen = this.stage.say("chosen_heads", { heads: picked.map((place) => place.join(".")).join(", ") });
    const options = [["one", picked.length ? chosen : words.one_head], ["all", words.every_head]];
    /** @type {import("../main/message.js").Field[]} */
    const controls = [
      { type: "range", name: "strength", label: words.strength, value: strength, low: 0, high: 1, step: 0.05 },
      { type: "choice", name: "heads", label: words.within, value: heads, options },
    ];
    const set = (/** @type {Given} */ given) => Object.assign(this, given);
    return [el("span", words.click_force), ...fields(controls, set, set)];
  }

  /** The cells of the large map that are changed. @returns {number[][]} */
  edited() {
    const { state, kind, told } = this.stage;
    if (!this.acts || !kind) return [];
    const { forced, cells, locked } = this.told;
    const { tokens, candidates } = told.target;
    const here = (/** @type {SteeringPayload["forced"][number]} */ [code, , , heads]) =>
      code === kind.code && kind.plain && (!heads.length || has(heads, ...kind.headAt(kind.open)));
    const rank = (/** @type {number} */ step) => (candidates[step] ?? []).findIndex(([name]) => name === tokens[step]);
    /** @type {Record<string, () => number[][]>} */
    const places = {
      map: () => forced.filter(here).map(([, row, key]) => [row, key]),
      mask: () => cells.filter(([code]) => code === kind.code).map(([, row, key]) => [row, key]),
      words: () => Array.from(locked, (_, step) => [step, rank(step)]).filter((place) => place[1] >= 0),
    };
    return places[state.view]?.() ?? [];
  }
}
