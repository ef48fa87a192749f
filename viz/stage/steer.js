// What can be changed on the stage, and what became of it: switches on tiles, cells to force or to paint, chips.
// The server computes every change; an action is sent to it as a small object (viz/ui/steering.py).

import { at, fill, rows } from "./data.js";
import { button, change, copied, el, marked, percent, tabs } from "./dom.js";
import { fields, form } from "./menus.js";

const MODES = ["open", "off", "uniform", "alone", "several"]; // what a click on a tile does
const RANGE = { type: "range", enabled: true };

/** Whether a list has a head, given as what it begins with. */
const has = (heads, ...place) => heads.some((head) => place.every((n, i) => head[i] === n));

export class Steering {
  constructor(stage) {
    const mode = stage.whole.setting ? "off" : "open";
    Object.assign(this, { stage, mode, strength: 1, everyHead: false, chosen: [], marks: [] });
    this.before = el("p.hl-before", { "data-testid": "stage-before", dir: "auto" });
    this.chips = el("div.hl-chips", { role: "group", "data-testid": "stage-changes" });
    this.bar = el("div.hl-switches.hl-steering");
    this.modes = el("div.hl-modes");
    const onkeydown = ({ key }) => key === "Escape" && this.ask(null);
    this.menu = el("div.hl-words", { hidden: true, onkeydown }); // where nothing asks for another word
    document.addEventListener("pointerdown", (event) => this.menu.contains(event.target) || this.ask(null));
    stage.tiles.decorate = (cell, layer, head) => this.decorate(cell, layer, head);
    stage.tiles.layer = (layer) => this.layer(layer);
    stage.tiles.box.addEventListener("keydown", ({ key, target }) => {
      const tile = target.closest(".hl-tile")?.dataset;
      if (key === "Delete" && tile) this.head("off", Number(tile.layer), Number(tile.head));
    });
    stage.map.box.addEventListener("pointerdown", (event) => this.paint(event), true);
  }

  get told() {
    return this.stage.whole.steering;
  }

  get words() {
    return this.stage.told.words;
  }

  act(action) {
    this.stage.host.act(action);
  }

  head(what, layer, head) {
    this.act({ do: what, kind: this.stage.kind.code, layer, head });
  }

  fillIn() {
    const { told, words } = this;
    this.ask(null);
    const changed = told.chips.length > 0;
    this.before.hidden = !changed;
    if (changed) {
      const label = el("span.hl-label", {}, `${words.before}: `);
      this.before.replaceChildren(label, ...marked(told.pairs, 0, "hl-gone"));
      this.stage.translation.replaceChildren(...marked(told.pairs, 1, "hl-new"));
    }
    const chip = ([code, text]) => {
      const label = fill(words.take_back, { change: text });
      const about = { "data-code": code, "aria-label": label, title: label };
      return button("hl-chip", `${text} ×`, () => this.act({ do: "drop", code }), about);
    };
    const cost = (text, about) => text && el("span.hl-cost", about, text);
    const parts = [
      ...told.chips.map(chip),
      changed ? cost(told.cost, { "data-testid": "stage-cost" }) : cost(words.unchanged),
      changed && button("hl-plain", words.copy_link, () => copied(location.href)),
      changed && button("hl-plain", words.reset_all, () => this.act({ do: "reset" })),
      told.problem && el("span.hl-problem", { role: "alert" }, told.problem),
      cost(told.future),
    ];
    this.chips.setAttribute("aria-label", words.changes);
    this.chips.replaceChildren(...parts.filter(Boolean));
    const options = MODES.map((mode) => [mode, words[mode]]);
    const { bar } = tabs(words.do, "data-do", options, this.mode, (mode) => (this.mode = mode), "stage-do");
    const pressed = { "aria-pressed": String(Boolean(told.importance)), "data-testid": "stage-importance" };
    const weigh = () => this.act({ do: "importance" });
    this.modes.replaceChildren(bar, button("hl-plain", words.importance, weigh, pressed));
  }

  /** Whether a click on a tile did something else than open it. */
  tile(layer, head, shift) {
    if (shift || this.mode === "several") return this.choose(layer, head);
    if (this.mode === "open") return false;
    this.head(this.mode, layer, head);
    return true;
  }

  get picked() {
    return this.chosenOf === this.stage.kind?.code ? this.chosen : [];
  }

  choose(layer, head) {
    const { stage, picked } = this;
    if (!stage.kind.plain) return false;
    this.chosen = has(picked, layer, head)
      ? picked.filter(([l, h]) => l !== layer || h !== head)
      : [...picked, [layer, head]];
    Object.assign(this, { chosenOf: stage.kind.code, everyHead: false });
    stage.renderKind();
    stage.render();
    return true;
  }

  decorate(cell, layer, head) {
    const { told, words, stage } = this;
    const { code } = stage.kind;
    const say = (text) => cell.setAttribute("aria-label", cell.getAttribute("aria-label") + text);
    if (has(this.picked, layer, head)) {
      cell.classList.add("hl-picked");
      say(`, ${words.picked}`);
    }
    for (const name of stage.state.version === "before" ? [] : ["off", "uniform"]) {
      if (!has(told[name], code, layer, head)) continue;
      cell.classList.add(`hl-is-${name}`);
      say(`, ${words[`is_${name}`]}`);
    }
    const worth = told.importance?.[code];
    if (worth) {
      const value = at(worth, layer, head);
      const most = Math.max(...worth.values.map(Math.abs)) || 1;
      cell.append(el("span.hl-worth", { style: `--hl-share: ${Math.abs(value) / most}` }));
      cell.title = fill(words.costs, { change: change(value) });
      say(`. ${cell.title}`);
    }
    const label = fill(words.switch, { layer, head });
    const pressed = { tabindex: "-1", "aria-pressed": String(has(told.off, code, layer, head)) };
    const flip = (event) => (event.stopPropagation(), this.head("off", layer, head));
    cell.append(
      button("hl-power", "⏻", flip, { ...pressed, "data-testid": "stage-off", "aria-label": label, title: label }),
    );
  }

  layer(layer) {
    const label = fill(this.words.whole_layer, { layer });
    const flip = () => this.act({ do: "layer", kind: this.stage.kind.code, layer });
    return button("hl-layer", String(layer), flip, { "aria-label": label, title: label });
  }

  get acts() {
    return this.stage.state.version === "after" && this.stage.measure === "weights";
  }

  /** Whether a click on a cell changed something. */
  cell(row, column) {
    const { state, kind } = this.stage;
    if (!this.acts) return false;
    if (state.view === "words") this.act({ do: "write", step: row, rank: column });
    else if (state.view === "map" && kind.plain) {
      const heads = this.everyHead ? [] : this.picked.length ? this.picked : [kind.open];
      this.act({ do: "force", kind: kind.code, row, key: column, strength: this.strength, heads });
    } else return false;
    return true;
  }

  render() {
    const { words } = this;
    const { state, kind } = this.stage;
    const moved = (name, value) =>
      this.act({ do: "positions", ...(value === null ? { scale: 1, shift: 0 } : { [name]: value }) });
    this.bar.hidden = !this.acts || !kind || state.view === "inside";
    if (this.bar.hidden) return;
    const parts = {
      map: () => (kind.plain ? this.forcing() : [words.with_options]),
      mask: () => [words.click_cell],
      words: () => [words.click_word],
      positions: () => form(this.told.positions, words, moved),
    };
    this.bar.replaceChildren(...parts[state.view]());
  }

  forcing() {
    const { words, picked, everyHead } = this;
    const chosen = fill(words.chosen_heads, { heads: picked.map((place) => place.join(".")).join(", ") });
    const options = [["one", picked.length ? chosen : words.one_head], ["all", words.every_head]];
    const controls = [
      { ...RANGE, name: "strength", label: words.strength, value: this.strength, low: 0, high: 1, step: 0.05 },
      { name: "heads", label: words.within, value: everyHead ? "all" : "one", options, enabled: true },
    ];
    const set = (name, value) => {
      if (name === "strength") this.strength = Number(value);
      else this.everyHead = value === "all";
    };
    return [el("span", {}, words.click_force), ...fields(controls, set, set)];
  }

  outline() {
    this.marks.forEach((mark) => mark.remove());
    const { state, kind, told } = this.stage;
    const { forced, cells, locked } = this.told;
    const { tokens, candidates = [] } = told.target;
    const here = ([code, , , heads]) => code === kind.code && kind.plain && (!heads.length || has(heads, ...kind.open));
    const rank = (step) => (candidates[step] ?? []).findIndex(([name]) => name === tokens[step]);
    const places = {
      map: () => forced.filter(here).map((force) => force.slice(1, 3)),
      mask: () => cells.filter(([code]) => code === kind.code).map((cell) => cell.slice(1, 3)),
      words: () => locked.map((_, step) => [step, rank(step)]).filter((place) => place[1] >= 0),
    };
    const changed = (this.acts && kind && places[state.view]?.()) || [];
    this.marks = changed.map((place) => this.mark(place, "edited"));
  }

  mark(place, look) {
    const { map } = this.stage;
    const mark = map.frame(el(`div.hl-mark.hl-${look}`), ...place);
    map.box.append(mark);
    return mark;
  }

  /** Opens what can be done with a word of the translation, [side, index]; else closes it. */
  ask(pinned) {
    const { stage, words, menu } = this;
    menu.hidden = pinned?.[0] !== "target" || !this.acts;
    if (menu.hidden) return;
    const step = pinned[1];
    const { tokens, candidates } = stage.told.target;
    const item = (text, action) => button("hl-item", text, () => this.act({ step, ...action }));
    const other = ([name, share], rank) =>
      name === tokens[step] ? [] : [item(`${name} ${percent(share)}`, { do: "write", rank })];
    const box = el("input", { type: "text", "aria-label": words.type, placeholder: words.type });
    const onsubmit = (event) => {
      event.preventDefault();
      if (box.value.trim()) this.act({ do: "type", step, text: box.value });
    };
    menu.replaceChildren(
      el("p", {}, fill(words.instead_of, { token: tokens[step] })),
      ...(candidates[step] ?? []).flatMap(other),
      el("form", { onsubmit }, box),
      item(words.keep, { do: "keep" }),
    );
    const place = stage.lines.chips.target[step].getBoundingClientRect();
    const root = stage.root.getBoundingClientRect();
    const left = Math.max(0, Math.min(place.left - root.left, root.width - menu.offsetWidth));
    Object.assign(menu.style, { left: `${left}px`, top: `${place.bottom - root.top + 4}px` });
  }

  /** Blocks or opens the cells of a mask over which the pointer is drawn. */
  paint(event) {
    const { state, kind, map } = this.stage;
    const start = map.cellAt(event);
    if (state.view !== "mask" || !this.acts || state.table || !start || event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    const edited = this.told.cells.find((cell) => has([cell], kind.code, ...start));
    const open = edited ? !edited[3] : !rows(this.stage.shown().z)[start[0]][start[1]];
    const painted = new Map();
    const add = (place) => {
      if (place && !painted.has(String(place)))
        painted.set(String(place), { place, mark: this.mark(place, open ? "opened" : "blocked") });
    };
    const move = (moved) => add(map.cellAt(moved));
    const stopped = new AbortController();
    const end = (ended) => {
      stopped.abort();
      const all = [...painted.values()];
      all.forEach(({ mark }) => mark.remove());
      const cells = all.map(({ place }) => place);
      if (ended.type === "pointerup") this.act({ do: "cells", kind: kind.code, cells, open });
    };
    add(start);
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]])
      addEventListener(name, listener, { signal: stopped.signal });
  }
}
