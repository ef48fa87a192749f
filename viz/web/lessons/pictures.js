// The picture of a card: stages or figures, as its state has them.

import { readMessage } from "../stage/main/message.js";
import { Stage } from "../stage/main/stage.js";
import { dress, el, setChildren } from "../stage/frame/dom.js";
import { Plot } from "../plot/plot.js";
import { framed, linesOf, toggled, withCells } from "./clicks.js";

/** @typedef {import("./state.js").Host} Host */
/** @typedef {import("./state.js").Made} Made */
/** @typedef {import("./state.js").State} State */

let stamp = 0; // of messages that have none of their own

export class Pictures {
  /** @type {Stage[]} */ stages = [];
  /** @type {{box: HTMLElement, title: HTMLElement}[]} in which stages stand */ boxes = [];
  /** @type {Plot[]} */ plots = [];
  /** The newest state. */ ticket = {};

  /**
   * @param {Host} host
   * @param {(parameters: import("./state.js").Parameters) => unknown} ask
   * @param {(action: import("./state.js").Action) => unknown} act
   */
  constructor(host, ask, act) {
    this.host = host;
    this.ask = ask;
    this.act = act;
    this.root = el("div.lesson-pictures");
    this.note = el("p.note");
  }

  /** Shows the picture of a state. @param {State} state */
  async show({ stages = [], figures = [], opened, picks }) {
    const ticket = (this.ticket = {});
    const several = stages.length > 1;
    dress(this.root, { "lesson-grid": several });
    if (stages.length) {
      const made = stages.map((part) => part.made ?? readMessage(/** @type {Uint8Array} */ (part.message), this.stageHost));
      await Promise.all(made.map(({ message }) => this.host.prepare(message)));
      if (ticket !== this.ticket) return;
      const boxes = stages.map((_, n) => this.boxAt(n));
      for (const [n, { title: [name, small] }] of stages.entries()) {
        boxes[n].title.hidden = !name;
        setChildren(boxes[n].title, name, small && [" ", el("small", small)]);
      }
      setChildren(this.root, boxes.map(({ box }) => box));
      await Promise.all(made.map(({ message, recordings }, n) => this.stages[n].present({ stamp: ++stamp, ...message }, recordings)));
      return;
    }
    if (figures.length) this.draw({ figures, opened, picks }, [], picks?.picked ?? []);
  }

  /**
   * Draws figures after some clicks.
   * @param {Required<Pick<State, "figures">> & Pick<State, "opened" | "picks">} state
   * @param {number[]} cells  that are opened, counted row by row
   * @param {number[]} picked
   */
  draw({ figures, opened, picks }, cells, picked) {
    const [first, ...others] = figures;
    const columns = first.table?.columns.length ?? 1;
    let shown = figures;
    if (opened) shown = [withCells(first, opened, cells), ...others];
    if (picks) {
      const { lines } = picks;
      shown = [framed(first, picked), ...(lines && picked.length ? [linesOf(lines, picks, picked)] : [])];
    }
    const click = (/** @type {number} */ row, /** @type {number} */ column) => {
      if (opened) this.draw({ figures, opened, picks }, toggled(cells, row * columns + column), picked);
      const number = picks?.cells.findIndex(([y, x]) => y === row && x === column) ?? -1;
      if (picks && number >= 0) this.draw({ figures, opened, picks }, cells, toggled(picked, number, picks.most));
    };
    const plots = shown.map((_, n) => this.plotAt(n));
    this.note.textContent = shown.at(-1)?.alt ?? "";
    setChildren(this.root, plots.map(({ root }) => root), this.note);
    for (const [n, plot] of plots.entries()) {
      plot.click = (_, value) => {
        const { x, y } = /** @type {{x: number, y: number}} */ (value);
        if (n === 0) click(y, x);
      };
      plot.show({ ...shown[n], stamp: String(++stamp) });
    }
  }

  /** What the stages of a card are shown by. @returns {import("../stage/main/message.js").Host} */
  get stageHost() {
    const { plotly, part } = this.host;
    return { plotly, part, read: () => ({}), write: () => {}, memories: {}, ask: this.ask, act: this.act };
  }

  /** The box of a stage, under its title. @param {number} n */
  boxAt(n) {
    this.stages[n] ??= new Stage(this.stageHost);
    const title = el("p.picture-title");
    return (this.boxes[n] ??= { title, box: el("div.lesson-stage", title, this.stages[n].root) });
  }

  /** @param {number} n */
  plotAt(n) {
    return (this.plots[n] ??= new Plot(this.host.plotly));
  }

  /** Draws again in a page that has become dark, or light. */
  repaint() {
    for (const stage of this.stages) if (stage.root.isConnected) stage.repaint();
    for (const plot of this.plots) if (plot.root.isConnected) plot.draw();
  }

  /** Draws again where something above has become higher. */
  onResize() {
    for (const stage of this.stages) if (stage.root.isConnected) stage.onResize();
    for (const plot of this.plots) if (plot.root.isConnected) plot.draw();
  }
}
