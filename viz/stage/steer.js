// What can be changed on the stage, and what became of it: switches on tiles, cells to force or to paint, chips.
// The server computes every change; an action is sent to it as a small object (viz/ui/steering.py).

import { at, fill } from "./data.js";
import { copied, decimals, el, tabs } from "./dom.js";
import { form } from "./menus.js";

const MODES = ["open", "off", "uniform", "alone", "several"]; // what a click on a tile does

export class Steering {
  constructor(stage) {
    Object.assign(this, { stage, mode: stage.whole.setting ? "off" : "open", strength: 1, everyHead: false, chosen: [], marks: [] });
    this.before = el("p", { class: "hl-before", "data-testid": "stage-before", dir: "auto" });
    this.chips = el("div", { class: "hl-chips", role: "group", "data-testid": "stage-changes" });
    this.bar = el("div", { class: "hl-switches hl-steering" });
    this.modes = el("div", { class: "hl-modes" });
    this.menu = el("div", { class: "hl-words", hidden: true }); // where nothing asks for another word
    document.addEventListener("pointerdown", (event) => this.menu.contains(event.target) || this.ask(null));
    this.menu.addEventListener("keydown", (event) => event.key === "Escape" && this.ask(null));
    stage.tiles.decorate = (cell, layer, head) => this.decorate(cell, layer, head);
    stage.tiles.layer = (layer) => this.layer(layer);
    stage.tiles.box.addEventListener("keydown", (event) => {
      const tile = event.target.closest(".hl-tile");
      if (event.key === "Delete" && tile) this.head("off", Number(tile.dataset.layer), Number(tile.dataset.head));
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

  // ------------------------------------------------------------------------------------------------ what is changed

  /** What was changed, what it cost, and both translations with the words marked that differ. */
  fillIn() {
    const { told, words } = this;
    this.ask(null);
    const changed = told.chips.length > 0;
    this.before.hidden = !changed;
    const line = (side) =>
      told.pairs
        .filter((pair) => pair[side])
        .flatMap((pair) => [
          pair[0] === pair[1] ? pair[side] : el("span", { class: side ? "hl-new" : "hl-gone" }, pair[side]),
          " ",
        ]);
    if (changed) {
      this.before.replaceChildren(el("span", { class: "hl-label" }, `${words.before}: `), ...line(0));
      this.stage.translation.replaceChildren(...line(1).slice(0, -1));
    }
    this.chips.setAttribute("aria-label", words.changes);
    const button = (text, onclick) => el("button", { type: "button", class: "hl-plain", onclick }, text);
    this.chips.replaceChildren(
      ...told.chips.map(([code, text]) => {
        const label = fill(words["take back"], { change: text });
        const drop = () => this.act({ do: "drop", code });
        return el(
          "button",
          { type: "button", class: "hl-chip", "data-code": code, "aria-label": label, title: label, onclick: drop },
          `${text} ×`,
        );
      }),
      ...(changed
        ? [
            el("span", { class: "hl-cost", "data-testid": "stage-cost" }, told.cost),
            button(words["copy link"], () => copied(location.href)),
            button(words["reset all"], () => this.act({ do: "reset" })),
          ]
        : [el("span", { class: "hl-cost" }, words.unchanged)]),
      ...(told.problem ? [el("span", { class: "hl-problem", role: "alert" }, told.problem)] : []),
      ...(told.future ? [el("span", { class: "hl-cost" }, told.future)] : []),
    );
    const options = MODES.map((mode) => [mode, words[mode]]);
    const { bar } = tabs(words.do, "data-do", options, this.mode, (mode) => (this.mode = mode), "stage-do");
    const worth = el(
      "button",
      {
        type: "button",
        class: "hl-plain",
        "aria-pressed": String(Boolean(told.importance)),
        "data-testid": "stage-importance",
        onclick: () => this.act({ do: "importance" }),
      },
      words.importance,
    );
    this.modes.replaceChildren(bar, worth);
  }

  // --------------------------------------------------------------------------------------------------------- tiles

  /** A click on a tile; whether it changed or chose the head instead of opening it. */
  tile(layer, head, shift) {
    if (shift || this.mode === "several") return this.choose(layer, head);
    if (this.mode === "open") return false;
    this.head(this.mode, layer, head);
    return true;
  }

  /** The heads of the opened kind that the next cell is forced in. */
  get picked() {
    return this.chosenOf === this.stage.kind?.code ? this.chosen : [];
  }

  /** Adds a head to those that the next cell is forced in, or takes it out. */
  choose(layer, head) {
    const { stage } = this;
    if (!stage.kind.plain) return false;
    const rest = this.picked.filter(([l, h]) => l !== layer || h !== head);
    this.chosen = rest.length < this.picked.length ? rest : [...rest, [layer, head]];
    this.chosenOf = stage.kind.code;
    this.everyHead = false;
    stage.renderKind();
    stage.render();
    return true;
  }

  decorate(cell, layer, head) {
    const { told, words, stage } = this;
    const { code } = stage.kind;
    if (this.picked.some(([l, h]) => l === layer && h === head)) {
      cell.classList.add("hl-picked");
      cell.setAttribute("aria-label", `${cell.getAttribute("aria-label")}, ${words.picked}`);
    }
    const here = (heads) => heads.some(([kind, l, h]) => kind === code && l === layer && h === head);
    for (const [name, heads] of [
      ["off", told.off],
      ["uniform", told.uniform],
    ]) {
      if (!here(heads) || stage.state.version === "before") continue;
      cell.classList.add(`hl-is-${name}`);
      cell.setAttribute("aria-label", `${cell.getAttribute("aria-label")}, ${words[`is ${name}`]}`);
    }
    const worth = told.importance?.[code];
    if (worth) {
      const value = at(worth, layer, head);
      const most = Math.max(...worth.values.map(Math.abs)) || 1;
      const said = fill(words.costs, { change: (value > 0 ? "+" : "") + decimals(value, 2) });
      cell.append(el("span", { class: "hl-worth", style: `--hl-share: ${Math.abs(value) / most}` }));
      cell.title = said;
      cell.setAttribute("aria-label", `${cell.getAttribute("aria-label")}. ${said}`);
    }
    cell.append(
      el(
        "button",
        {
          type: "button",
          class: "hl-power",
          tabindex: "-1",
          "data-testid": "stage-off",
          "aria-pressed": String(here(told.off)),
          "aria-label": fill(words.switch, { layer, head }),
          title: fill(words.switch, { layer, head }),
          onclick: (event) => (event.stopPropagation(), this.head("off", layer, head)),
        },
        "⏻",
      ),
    );
  }

  /** The name of a layer, which switches all its heads. */
  layer(layer) {
    const label = fill(this.words["whole layer"], { layer });
    const onclick = () => this.act({ do: "layer", kind: this.stage.kind.code, layer });
    return el("button", { type: "button", class: "hl-layer", "aria-label": label, title: label, onclick }, String(layer));
  }

  // ------------------------------------------------------------------------------------------------- large picture

  get acts() {
    return this.stage.state.version === "after" && this.stage.measure === "weights";
  }

  /** A click on a cell of the picture; whether it changed something. */
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

  /** What a click on the picture does, above it. */
  render() {
    const { words, told } = this;
    const { state, kind } = this.stage;
    this.bar.hidden = !this.acts || !kind || state.view === "inside";
    if (this.bar.hidden) return;
    const parts = {
      map: () => (kind.plain ? this.forcing() : [words["with options"]]),
      mask: () => [words["click cell"]],
      words: () => [words["click word"]],
      positions: () => {
        const [scale, shift, stacks] = told.positions;
        const range = { type: "range", enabled: true, help: words.moved, unit: "" };
        const fields = [
          { ...range, name: "scale", label: words.scale, value: scale, low: 0, high: 2, step: 0.1 },
          { ...range, name: "shift", label: words.shift, value: shift, low: 0, high: 100 },
          { type: "choice", name: "stacks", label: words.in, value: stacks, options: told.stacks, enabled: true },
        ];
        const set = (name, value) =>
          this.act({ do: "positions", ...(value === null ? { scale: 1, shift: 0 } : { [name]: value }) });
        return form(fields, words, set);
      },
    };
    this.bar.replaceChildren(...parts[state.view]());
  }

  forcing() {
    const { words } = this;
    const chosen = fill(words["chosen heads"], { heads: this.picked.map((place) => place.join(".")).join(", ") });
    const said = el("output", {}, decimals(this.strength, 2));
    const slider = el("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.05,
      value: this.strength,
      oninput: () => {
        this.strength = Number(slider.value);
        said.textContent = decimals(this.strength, 2);
      },
    });
    const heads = el(
      "select",
      { "aria-label": words.in, onchange: () => (this.everyHead = heads.value === "all") },
      el("option", { value: "one", selected: !this.everyHead }, this.picked.length ? chosen : words["one head"]),
      el("option", { value: "all", selected: this.everyHead }, words["every head"]),
    );
    return [
      el("span", {}, words["click force"]),
      el("label", { class: "hl-field" }, words.strength, slider, said),
      el("label", { class: "hl-field" }, words.in, heads),
    ];
  }

  /** Frames the cells that are changed. */
  outline() {
    this.marks.forEach((mark) => mark.remove());
    const { state, kind, map } = this.stage;
    if (!this.acts || !kind) return;
    const { forced, cells, locked } = this.told;
    const [layer, head] = kind.open;
    const places = {
      map: () =>
        forced
          .filter(([code, , , heads]) => {
            const here = !heads.length || heads.some(([l, h]) => l === layer && h === head);
            return kind.plain && code === kind.code && here;
          })
          .map(([, row, column]) => [row, column]),
      mask: () => cells.filter(([code]) => code === kind.code).map(([, row, column]) => [row, column]),
      words: () =>
        locked.flatMap((_, step) => {
          const written = this.stage.told.target.tokens[step];
          const rank = (this.stage.told.target.candidates[step] ?? []).findIndex(([name]) => name === written);
          return rank < 0 ? [] : [[step, rank]];
        }),
    };
    this.marks = (places[state.view]?.() ?? []).map(([row, column]) => this.mark(row, column, "hl-edited"));
    map.box.append(...this.marks);
  }

  mark(row, column, name) {
    const mark = el("div", { class: `hl-mark ${name}` });
    Object.assign(mark.style, this.stage.map.box_of(row, column));
    return mark;
  }

  // --------------------------------------------------------------------------------------------------------- words

  /** Opens what can be done with a word of the translation, [side, index]; closes it for null or another one. */
  ask(pinned) {
    const { stage, words, menu } = this;
    menu.hidden = pinned?.[0] !== "target" || !this.acts;
    if (menu.hidden) return;
    const step = pinned[1];
    const { tokens, candidates } = stage.told.target;
    const button = (text, action) =>
      el("button", { type: "button", class: "hl-item", onclick: () => this.act({ step, ...action }) }, text);
    const others = (candidates[step] ?? []).map(([name, share], rank) => [name, share, rank]);
    const box = el("input", { type: "text", "aria-label": words.type, placeholder: words.type });
    const typed = (event) => {
      event.preventDefault();
      if (box.value.trim()) this.act({ do: "type", step, text: box.value });
    };
    menu.replaceChildren(
      el("p", {}, fill(words.instead_of, { token: tokens[step] })),
      ...others
        .filter(([name]) => name !== tokens[step])
        .map(([name, share, rank]) => button(`${name} ${decimals(100 * share, 1)} %`, { do: "write", rank })),
      el("form", { onsubmit: typed }, box),
      button(words.keep, { do: "keep" }),
    );
    const place = stage.lines.chips.target[step].getBoundingClientRect();
    const root = stage.root.getBoundingClientRect();
    const left = Math.max(0, Math.min(place.left - root.left, root.width - menu.offsetWidth));
    Object.assign(menu.style, { left: `${left}px`, top: `${place.bottom - root.top + 4}px` });
  }

  // ------------------------------------------------------------------------------------------------------ painting

  /** Blocks or opens the cells of a mask over which the pointer is drawn. */
  paint(event) {
    const { state, kind, map } = this.stage;
    const start = map.cellAt(event);
    if (state.view !== "mask" || !this.acts || state.table || !start || event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    const { z } = this.stage.shown();
    const edited = this.told.cells.find(([code, row, key]) => code === kind.code && row === start[0] && key === start[1]);
    const open = edited ? !edited[3] : !z.values[start[0] * z.shape[1] + start[1]];
    const painted = new Map();
    const add = (place) => {
      if (!place || painted.has(String(place))) return;
      const mark = this.mark(...place, open ? "hl-opened" : "hl-blocked");
      painted.set(String(place), mark);
      map.box.append(mark);
    };
    const move = (moved) => add(map.cellAt(moved));
    const end = (ended) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      painted.forEach((mark) => mark.remove());
      const cells = [...painted.keys()].map((place) => place.split(",").map(Number));
      if (ended.type === "pointerup") this.act({ do: "cells", kind: kind.code, cells, open });
    };
    add(start);
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }
}
