// What can be changed on the stage; the server (viz/ui/steering.py) is sent small objects and computes every change.
// @ts-nocheck

import { button, change, copied, dress, el, marked, named, percent, put } from "./dom.js";
import { tabs } from "./widgets.js";
import { fields, form } from "./menus.js";

const MODES = ["open", "off", "uniform", "alone", "several"]; // what a click on a tile does

/** Whether one of a list begins with these. */
const has = (list, ...first) => list.some((one) => first.every((n, i) => one[i] === n));

export class Steering {
  constructor(stage) {
    const mode = stage.whole.setting ? "off" : "open";
    Object.assign(this, { stage, mode, strength: 1, heads: "one", chosen: {} });
    this.before = el("p.before#before", { dir: "auto" });
    this.chips = el("div.chips#changes", { role: "group" });
    this.bar = el("div.switches.steering");
    this.modes = el("div.modes");
    const onkeydown = ({ key }) => key === "Escape" && this.ask(null);
    this.menu = el("div.words", { hidden: true, onkeydown });
    document.addEventListener("pointerdown", (event) => this.menu.contains(event.target) || this.ask(null));
    stage.map.box.addEventListener("pointerdown", (event) => this.paint(event), true);
  }

  get told() {
    return this.stage.whole.steering;
  }

  get words() {
    return this.stage.words;
  }

  act(what, more) {
    this.stage.host.act({ do: what, ...more });
  }

  head(what, layer, head) {
    this.act(what, { kind: this.stage.kind.code, layer, head });
  }

  fillIn() {
    const { told, words, stage } = this;
    this.ask(null);
    const changed = told.chips.length > 0;
    put(this.before, changed && [el("span.label", `${words.before}: `), marked(told.pairs, 0, "gone")]);
    if (changed) put(stage.translation, marked(told.pairs, 1, "new"));
    const chip = ([code, text]) => {
      const about = { "data-code": code, ...named(stage.say("take_back", { change: text })) };
      return button("chip", `${text} ×`, () => this.act("drop", { code }), about);
    };
    const cost = (text, part = "") => text && el(`span.cost${part}`, text);
    this.chips.ariaLabel = words.changes;
    put(
      this.chips,
      told.chips.map(chip),
      changed ? cost(told.cost, "#cost") : cost(words.unchanged),
      changed && button("plain", words.copy_link, () => copied(location.href)),
      changed && button("plain", words.reset_all, () => this.act("reset")),
      told.problem && el("span.problem", { role: "alert" }, told.problem),
      cost(told.future),
    );
    const bar = tabs(words, "do", "do", MODES, this.mode, (change) => (this.mode = change.do));
    const pressed = { "aria-pressed": String(Boolean(told.importance)) };
    put(this.modes, bar, button("plain#importance", words.importance, () => this.act("importance"), pressed));
  }

  /** Whether a click on a tile did more than open it. */
  tile(layer, head, shift) {
    if (shift || this.mode === "several") return this.choose(layer, head);
    if (this.mode === "open") return false;
    this.head(this.mode, layer, head);
    return true;
  }

  get picked() {
    return this.chosen[this.stage.kind?.code] ?? [];
  }

  choose(layer, head) {
    const { stage, picked } = this;
    if (!stage.kind.plain) return false;
    const others = picked.filter((one) => !has([one], layer, head));
    this.chosen = { [stage.kind.code]: others.length < picked.length ? others : [...picked, [layer, head]] };
    this.heads = "one";
    stage.renderKind();
    stage.render();
    return true;
  }

  decorate(cell, layer, head) {
    const { told, words, stage } = this;
    const { code } = stage.kind;
    const now = stage.state.version !== "before";
    const off = has(told.off, code, layer, head);
    const signs = {
      picked: has(this.picked, layer, head) && words.picked,
      "is-off": now && off && words.is_off,
      "is-uniform": now && has(told.uniform, code, layer, head) && words.is_uniform,
    };
    dress(cell, signs);
    cell.ariaLabel = [cell.ariaLabel, ...Object.values(signs).filter(Boolean)].join(", ");
    const worth = told.importance?.[code];
    if (worth) {
      const most = Math.max(...worth.flatMap((row) => Array.from(row, Math.abs))) || 1;
      const value = worth[layer][head];
      cell.append(el("span.worth", { style: `--hl-share: ${Math.abs(value) / most}` }));
      cell.title = stage.say("costs", { change: change(value) });
      cell.ariaLabel += `. ${cell.title}`;
    }
    const about = { tabindex: "-1", "aria-pressed": String(off), ...named(stage.say("switch", { layer, head })) };
    const flip = (event) => (event.stopPropagation(), this.head("off", layer, head));
    cell.append(button("power#off", "⏻", flip, about));
  }

  layer(layer) {
    const flip = () => this.act("layer", { kind: this.stage.kind.code, layer });
    return button("layer", String(layer), flip, named(this.stage.say("whole_layer", { layer })));
  }

  get acts() {
    return this.stage.state.version === "after" && this.stage.measure === "weights";
  }

  /** Whether a click on a cell changed something. */
  cell(row, column) {
    const { state, kind } = this.stage;
    if (!this.acts) return false;
    if (state.view === "words") this.act("write", { step: row, rank: column });
    else if (state.view === "map" && kind.plain) {
      const heads = this.heads === "all" ? [] : this.picked.length ? this.picked : [kind.open];
      this.act("force", { kind: kind.code, row, key: column, strength: Number(this.strength), heads });
    } else return false;
    return true;
  }

  render() {
    const { words } = this;
    const { state, kind } = this.stage;
    const usual = { scale: 1, shift: 0 };
    const moved = (given) => this.act("positions", Object.values(given).includes(null) ? usual : given);
    this.bar.hidden = !this.acts || !kind || state.view === "inside";
    if (this.bar.hidden) return;
    const parts = {
      map: () => (kind.plain ? this.forcing() : words.with_options),
      mask: () => words.click_cell,
      words: () => words.click_word,
      positions: () => form(this.told.positions, words, moved),
    };
    put(this.bar, parts[state.view]());
  }

  forcing() {
    const { words, picked, heads, strength } = this;
    const chosen = this.stage.say("chosen_heads", { heads: picked.map((place) => place.join(".")).join(", ") });
    const options = [["one", picked.length ? chosen : words.one_head], ["all", words.every_head]];
    const controls = [
      { type: "range", name: "strength", label: words.strength, value: strength, low: 0, high: 1, step: 0.05 },
      { type: "choice", name: "heads", label: words.within, value: heads, options },
    ];
    const set = (given) => Object.assign(this, given);
    return [el("span", words.click_force), ...fields(controls, set, set)];
  }

  edited() {
    const { state, kind, told } = this.stage;
    const { forced, cells, locked } = this.told;
    const { tokens, candidates } = told.target;
    const here = ([code, , , heads]) => code === kind.code && kind.plain && (!heads.length || has(heads, ...kind.open));
    const rank = (step) => (candidates[step] ?? []).findIndex(([name]) => name === tokens[step]);
    const places = {
      map: () => forced.filter(here).map((force) => force.slice(1, 3)),
      mask: () => cells.filter(([code]) => code === kind.code).map((cell) => cell.slice(1, 3)),
      words: () => locked.map((_, step) => [step, rank(step)]).filter((place) => place[1] >= 0),
    };
    return (this.acts && kind && places[state.view]?.()) || [];
  }

  /** Opens what can be done with a written word, [side, index]; else closes it. */
  ask(pinned) {
    const { stage, words, menu } = this;
    menu.hidden = pinned?.[0] !== "target" || !this.acts;
    if (menu.hidden) return;
    const step = pinned[1];
    const { tokens, candidates } = stage.told.target;
    const item = (text, what, more) => button("item", text, () => this.act(what, { step, ...more }));
    const other = ([name, share], rank) =>
      name !== tokens[step] && item(`${name} ${percent(share)}`, "write", { rank });
    const box = el("input", { type: "text", "aria-label": words.type, placeholder: words.type });
    const onsubmit = (event) => {
      event.preventDefault();
      if (box.value.trim()) this.act("type", { step, text: box.value });
    };
    put(
      menu,
      el("p", stage.say("instead_of", { token: tokens[step] })),
      (candidates[step] ?? []).map(other),
      el("form", { onsubmit }, box),
      item(words.keep, "keep"),
    );
    const place = stage.lines.chips.target[step].getBoundingClientRect();
    const root = stage.root.getBoundingClientRect();
    const left = Math.max(0, Math.min(place.left - root.left, root.width - menu.offsetWidth));
    Object.assign(menu.style, { left: `${left}px`, top: `${place.bottom - root.top + 4}px` });
  }

  /** Blocks or opens the cells of a mask under the pointer. */
  paint(event) {
    const { state, kind, map } = this.stage;
    const start = map.cellAt(event);
    if (state.view !== "mask" || !this.acts || state.table || !start || event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    const edited = this.told.cells.find((cell) => has([cell], kind.code, ...start));
    const open = edited ? !edited[3] : !this.stage.shown().z[start[0]][start[1]];
    const cells = [];
    const marks = [];
    const move = (moved) => {
      const place = map.cellAt(moved);
      if (!place || has(cells, ...place)) return;
      cells.push(place);
      marks.push(map.mark(place, open ? "opened" : "blocked"));
    };
    const stopped = new AbortController();
    const end = ({ type }) => {
      stopped.abort();
      marks.forEach((mark) => mark.remove());
      if (type === "pointerup") this.act("cells", { kind: kind.code, cells, open });
    };
    move(event);
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]])
      addEventListener(name, listener, { signal: stopped.signal });
  }
}
