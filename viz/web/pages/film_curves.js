// The curves of one or two films above one axis of steps; a click on a point opens that head at that step.

import { frameAt, kindOf } from "../recording/film/film.js";
import { LINES } from "../recording/pictures/theme.js";
import { fill } from "../recording/text/sentences.js";
import { decimals, el, setChildren } from "../stage/frame/dom.js";

/**
 * @typedef {import("./film.js").Loaded} Loaded
 * @typedef {import("./film.js").Opened} Opened
 * @typedef {{x: number, y: number, film: number, curve: import("../recording/film/film.js").Curve, step: number}} Point
 */

const COLOURS = { previous: LINES[0], induction: LINES[3], source: LINES[2], earlier: LINES[4], loss: LINES[6], right: LINES[1] };
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 20, 8, 34];
const NEAR = 14; // pixels about a point that belong to it

/** A piece of a line as the film of that number has it. @param {number} number @param {string} [colour] */
const sample = (number, colour = "currentColor") =>
  el("i", { style: `border-top: 2px ${number ? "dashed" : "solid"} ${colour}`, "aria-hidden": "true" });

export class Curves {
  /** @type {Point[]} */ points = [];
  width = 300;
  height = 160;

  /** @param {(opened: Opened) => void} open */
  constructor(open) {
    this.open = open;
    const click = (/** @type {MouseEvent} */ event) => this.clicked(event);
    const onmousemove = (/** @type {MouseEvent} */ event) => this.point(event);
    this.canvas = el("canvas", { role: "img", "data-testid": "film-curves", onclick: click, onmousemove });
    this.legend = el("div.film-legend");
    this.box = el("div.film-curves", [this.canvas, this.legend]);
  }

  /** @param {string} rule */
  colour(rule) {
    return COLOURS[/** @type {keyof typeof COLOURS} */ (rule)] ?? LINES[5];
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    const scale = devicePixelRatio || 1;
    Object.assign(this, { width, height });
    Object.assign(this.canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.canvas.getContext("2d")?.setTransform(scale, 0, 0, scale, 0, 0);
  }

  /** Steps stand at equal ratios. @param {number} step */
  x(step) {
    return LEFT + (Math.log1p(step) / Math.log1p(this.most)) * (this.width - LEFT - RIGHT);
  }

  /** @param {number} value  from 0 to 1 */
  y(value) {
    return TOP + (1 - Math.max(0, Math.min(value, 1.05))) * (this.height - TOP - BOTTOM);
  }

  most = 1;

  /** @param {Loaded[]} films @param {number} step @param {Record<string, string>} words */
  draw(films, step, words) {
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    this.most = Math.max(1, ...films.map(({ film }) => film.steps[film.steps.length - 1]));
    this.words = words;
    this.films = films;
    pen.clearRect(0, 0, this.width, this.height);
    const ink = getComputedStyle(this.box).color;
    this.axes(pen, ink, words);
    this.points = [];
    films.forEach((each, number) => this.lines(pen, each, number, step));
    films.forEach(({ marks }) => marks.forEach((mark) => this.tick(pen, mark, ink)));
    pen.globalAlpha = 0.8;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(this.x(step), TOP);
    pen.lineTo(this.x(step), this.height - BOTTOM);
    pen.stroke();
    pen.globalAlpha = 1;
    this.name(films, step, words);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} ink @param {Record<string, string>} words */
  axes(pen, ink, words) {
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.textAlign = "right";
    for (const value of [0, 0.5, 1]) {
      pen.globalAlpha = 0.15;
      pen.beginPath();
      pen.moveTo(LEFT, this.y(value));
      pen.lineTo(this.width - RIGHT, this.y(value));
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillText(decimals(value, 1), LEFT - 6, this.y(value) + 4);
    }
    pen.textAlign = "center";
    let free = -Infinity;
    for (const step of [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000]) {
      const x = this.x(step);
      if (step > this.most || x < free) continue;
      pen.fillText(String(step), x, this.height - BOTTOM + 15);
      free = x + 34;
    }
    pen.textAlign = "right";
    pen.fillText(words.steps, this.width - RIGHT, this.height - 4);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Loaded} loaded @param {number} number @param {number} step */
  lines(pen, { film, curves }, number, step) {
    for (const curve of [...curves].sort((a, b) => Number(a.isBest) - Number(b.isBest))) {
      pen.strokeStyle = this.colour(curve.rule);
      pen.globalAlpha = curve.isBest ? 1 : 0.28;
      pen.lineWidth = curve.isBest ? 2 : 1;
      pen.setLineDash(number ? [5, 4] : []);
      pen.beginPath();
      film.steps.forEach((at, frame) => {
        const [x, y] = [this.x(at), this.y(curve.values[frame])];
        if (frame) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        if (curve.rule !== "loss" && curve.rule !== "right") this.points.push({ x, y, film: number, curve, step: at });
      });
      pen.stroke();
      if (!curve.isBest) continue;
      pen.fillStyle = pen.strokeStyle;
      pen.beginPath();
      const now = frameAt(film, step);
      pen.arc(this.x(film.steps[now]), this.y(curve.values[now]), 3.5, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  /** A triangle where something passes half of its way. @param {CanvasRenderingContext2D} pen @param {{step: number, rule: string}} mark @param {string} ink */
  tick(pen, { step, rule }, ink) {
    const [x, y] = [this.x(step), this.height - BOTTOM];
    pen.fillStyle = this.colour(rule) || ink;
    pen.beginPath();
    pen.moveTo(x, y - 9);
    pen.lineTo(x - 5, y);
    pen.lineTo(x + 5, y);
    pen.fill();
  }

  /** What each colour is, with its value at the step; two films have a row each. @param {Loaded[]} films @param {number} step @param {Record<string, string>} words */
  name(films, step, words) {
    const rows = films.map(({ film, curves, name }, number) => {
      const frame = frameAt(film, step);
      const parts = curves
        .filter(({ isBest }) => isBest)
        .map(({ rule, values, layer, head }) => {
          const place = rule === "loss" || rule === "right" ? "" : ` · ${layer}.${head} ·`;
          return el("span", [sample(number, this.colour(rule)), `${words[rule]}${place} ${decimals(values[frame], 2)}`]);
        });
      return el("p", { "data-testid": "film-legend" }, [films.length > 1 && el("b", [sample(number), name]), parts]);
    });
    setChildren(this.legend, rows);
    this.canvas.ariaLabel = rows.map((row) => [...row.children].map(({ textContent }) => textContent).join(", ")).join("; ");
  }

  /** @param {MouseEvent} event */
  near({ offsetX, offsetY }) {
    let best = null;
    let distance = NEAR;
    for (const point of this.points) {
      const away = Math.hypot(point.x - offsetX, point.y - offsetY) - (point.curve.isBest ? 2 : 0);
      if (away < distance) [best, distance] = [point, away];
    }
    return best;
  }

  /** @param {MouseEvent} event */
  point(event) {
    const point = this.near(event);
    this.canvas.style.cursor = point ? "pointer" : "";
    const { words } = this;
    if (!point || !words) {
      this.canvas.title = "";
      return;
    }
    const { rule, layer, head, values } = point.curve;
    const film = /** @type {Loaded[]} */ (this.films)[point.film].film;
    const shown = { layer, head, rule: words[rule], step: point.step, score: decimals(values[frameAt(film, point.step)], 2) };
    this.canvas.title = fill(words.point, shown);
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const point = this.near(event);
    if (!point) return;
    const { film, curve, step } = point;
    const loaded = /** @type {Loaded[]} */ (this.films)[film];
    this.open({ film, kind: kindOf(loaded.film, curve.rule), layer: curve.layer, head: curve.head, step });
  }
}
