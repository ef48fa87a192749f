// Pictures of a sheet that other folders draw: figures and films.

import { el } from "../stage/frame/dom.js";
import { FilmPlayer } from "../pages/film.js";
import { Plot } from "../plot/plot.js";
import { clicked } from "./types.js";

/** @typedef {import("./types.js").Context} Context */

export class FigureView {
  /** @param {Context} context */
  constructor({ host, change }) {
    this.plot = new Plot(host.plotly);
    this.root = this.plot.root;
    this.change = change;
  }

  /** @param {import("./types.js").Figure} part */
  show({ figure, click }) {
    this.plot.click = (_, value) => {
      const { x, y, customdata } = /** @type {{x: number, y: number, customdata?: number[]}} */ (value);
      if (!click) return;
      const parameters = "point" in click ? { [click.point]: String(customdata?.[0]) } : clicked(click, y, x);
      if (parameters) this.change(parameters);
    };
    this.plot.show(figure);
  }

  fit() {
    this.plot.draw();
  }

  leave() {
    this.plot.leave();
  }
}

export class FilmView {
  /** @param {Context} context */
  constructor({ change }) {
    this.change = change;
    this.root = el("div.sheet-film");
    this.player = new FilmPlayer(this.root);
  }

  /** @param {import("./types.js").Film} part */
  show({ message, key, also }) {
    const code = (/** @type {import("../pages/film.js").Opened} */ { film, kind, layer, head, step }) => [film, kind, layer, head, step].join("-");
    this.player.open = (opened) => this.change({ ...also, [key]: code(opened) });
    this.player.show(message);
  }

  fit() {
    this.player.resize();
  }

  leave() {
    this.player.pause();
  }
}
