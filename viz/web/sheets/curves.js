// Curves over one axis, in panels above each other, without a library.

import { LINES } from "../recording/pictures/theme.js";
import { formatNumber } from "../recording/text/sentences.js";
import { textWidth } from "../recording/text/text.js";
import { el, setChildren } from "../stage/frame/dom.js";
import { heightOf } from "./size.js";
import { extent, linearTicks, logTicks, nearest, scale } from "./ticks.js";

/** @typedef {import("./types.js").Curves} Curves */
/** @typedef {import("./types.js").Panel} Panel */
/** @typedef {ReturnType<typeof scale>} Scale */
/** @typedef {{panel: Panel, top: number, bottom: number, y: Scale, ticks: number[]}} Placed */

const [RIGHT, TOP, BOTTOM, BETWEEN] = [14, 22, 34, 26]; // pixels about panels
const GLYPH = 6.6; // pixels of a letter of an axis
const USUAL = 320; // pixels of height
const ROOM = 0.05; // of a range, above and below
const [X_TICKS, Y_TICKS] = [90, 34]; // pixels from number to number, at least
const MOST_TICKS = 8; // of an upright axis

export class CurvesView {
  /** @type {Curves | null} */ part = null;
  /** @type {Placed[]} */ placed = [];
  /** @type {Scale} */ x = (value) => value;
  now = "";

  constructor() {
    this.title = el("p.picture-title");
    this.legend = el("p.sheet-legend");
    this.svg = el("svg", { class: "hl-sheet-curves", role: "img" });
    this.tip = el("div.tip", { hidden: true });
    const onpointermove = (/** @type {PointerEvent} */ event) => this.point(event);
    const onpointerleave = () => (this.tip.hidden = true);
    this.plot = el("div.sheet-plot", { onpointermove, onpointerleave }, this.svg, this.tip);
    this.root = el("div.sheet-picture", { "data-testid": "curves" }, this.title, this.legend, this.plot);
  }

  /** @param {Curves} part */
  show(part) {
    this.part = part;
    this.now = "";
    const { label, title = "", panels } = part;
    this.title.textContent = title;
    this.title.hidden = !title;
    this.svg.ariaLabel = label;
    const names = panels[0].lines.map(({ name, colour, dashed }, i) =>
      el("span", el("i", { style: `background:${colourOf(colour ?? i)}${dashed ? ";opacity:0.5" : ""}` }), name),
    );
    setChildren(this.legend, names);
    this.legend.hidden = panels[0].lines.length < 2;
  }

  fit() {
    const { part, plot } = this;
    if (!part || !plot.clientWidth) return;
    const [width, height] = [plot.clientWidth, heightOf(plot, part, USUAL)];
    const now = `${width} ${height}`;
    if (this.now === now) return;
    this.now = now;
    this.draw(part, width, height);
  }

  /** @param {Curves} part @param {number} width @param {number} height */
  draw(part, width, height) {
    const { panels, xAxis, logX = false, cursor } = part;
    const ranges = panels.map((panel) => rangeOf(panel));
    const each = (height - TOP - BOTTOM - BETWEEN * (panels.length - 1)) / panels.length;
    const ticks = panels.map(({ log }, i) => ticksOf(ranges[i], Boolean(log), Math.max(2, Math.min(MOST_TICKS, Math.floor(each / Y_TICKS)))));
    const written = ticks.flat().map((tick) => this.write(tick));
    const left = 12 + GLYPH * Math.max(...written.map(textWidth));
    const range = extent(panels.flatMap(({ lines }) => lines.map(({ x }) => x)), logX);
    this.x = scale(range, [left, width - RIGHT], logX);
    this.placed = panels.map((panel, i) => {
      const top = TOP + i * (each + BETWEEN);
      const bottom = top + each;
      return { panel, top, bottom, ticks: ticks[i], y: scale(ranges[i], [bottom, top], Boolean(panel.log)) };
    });
    const across = ticksOf(range, logX, Math.max(2, Math.floor((width - left - RIGHT) / X_TICKS)));
    const axis = across.map((tick) => {
      const isLast = this.x(tick) > width - RIGHT - GLYPH;
      return text(isLast ? width : this.x(tick), height - BOTTOM + 15, this.write(tick), isLast ? "end" : "middle");
    });
    const marked = cursor === undefined ? "" : rule([this.x(cursor), TOP, this.x(cursor), height - BOTTOM], "cursor");
    const parts = this.placed.map((placed) => this.panel(placed, [left, width - RIGHT]));
    Object.assign(this.svg.style, { width: `${width}px`, height: `${height}px` });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // Numbers, colours of ours, and texts whose signs are escaped.
    this.svg.innerHTML = [...parts, ...axis, marked, text(width - RIGHT, height - 3, xAxis, "end")].join("");
  }

  /** One panel: its axis, its lines, what is marked. @param {Placed} placed @param {[number, number]} sides */
  panel({ panel, top, ticks, y }, [left, right]) {
    const { title, lines, log, limit } = panel;
    const grid = ticks.flatMap((tick) => [rule([left, y(tick), right, y(tick)], "grid"), text(left - 6, y(tick) + 4, this.write(tick), "end")]);
    const limits = limit ? [rule([left, y(limit[0]), right, y(limit[0])], "limit"), text(right, y(limit[0]) - 4, limit[1], "end")] : [];
    const paths = lines.map(({ x, y: values, colour, dashed }, i) => {
      const d = path(x, values, this.x, y, Boolean(log));
      return `<path d="${d}" fill="none" stroke="${colourOf(colour ?? i)}" stroke-width="2"${dashed ? ' stroke-dasharray="5 4"' : ""}/>`;
    });
    const marks = lines.flatMap(({ mark, colour }, i) =>
      mark ? [`<circle cx="${this.x(mark[0])}" cy="${y(mark[1])}" r="4" fill="${colourOf(colour ?? i)}"><title>${escape(mark[2])}</title></circle>`] : [],
    );
    return [text(0, top - 8, title, "start"), ...grid, ...limits, ...paths, ...marks].join("");
  }

  /** @param {number} value */
  write(value) {
    const size = Math.abs(value);
    const spec = size >= 1e3 ? ",d" : (this.part?.number ?? ".3g");
    return formatNumber(value, size && size < 1e-6 ? ".0e" : spec, document.documentElement.lang || "en");
  }

  /** Says the values of all lines at a place. @param {PointerEvent} event */
  point({ clientX, clientY }) {
    const box = this.plot.getBoundingClientRect();
    const [left, top] = [clientX - box.left, clientY - box.top];
    const placed = this.placed.find(({ bottom }) => top <= bottom) ?? this.placed.at(-1);
    if (!placed || !this.part) return;
    const lines = placed.panel.lines.flatMap(({ name, x, y, colour }, i) => {
      const places = Array.from(x, (value) => this.x(value));
      const at = nearest(places, left);
      if (at < 0 || Number.isNaN(y[at])) return [];
      return [el("div", el("i", { style: `background:${colourOf(colour ?? i)}` }), `${name}: ${this.write(y[at])} (${this.write(x[at])})`)];
    });
    setChildren(this.tip, lines);
    this.tip.hidden = !lines.length;
    const isRight = left > box.width / 2;
    Object.assign(this.tip.style, { left: isRight ? "" : `${left + 14}px`, right: isRight ? `${box.width - left + 14}px` : "", top: `${Math.max(0, top - 20)}px` });
  }
}

/** @param {number} i */
const colourOf = (i) => LINES[i % LINES.length];

/** @param {[number, number]} range @param {boolean} isLog @param {number} most */
const ticksOf = ([low, high], isLog, most) => (isLog ? logTicks(low, high, most) : linearTicks(low, high, most));

/** The numbers that a panel reaches, with room about them. @param {Panel} panel @returns {[number, number]} */
function rangeOf({ lines, log, limit, range }) {
  if (range) return range;
  const [low, high] = extent([...lines.map(({ y }) => y), limit ? [limit[0]] : []], Boolean(log));
  if (log) return [low / 1.2, high * 1.2];
  const room = ROOM * (high - low || Math.abs(high) || 1);
  return [low >= 0 && low < 0.3 * high ? 0 : low - room, high + room];
}

/**
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 * @param {Scale} x
 * @param {Scale} y
 * @param {boolean} isLog
 */
function path(xs, ys, x, y, isLog) {
  const parts = [];
  let isOpen = false;
  for (let i = 0; i < xs.length; i++) {
    const isThere = Number.isFinite(ys[i]) && !(isLog && ys[i] <= 0);
    if (isThere) parts.push(`${isOpen ? "L" : "M"}${x(xs[i]).toFixed(2)} ${y(ys[i]).toFixed(2)}`);
    isOpen = isThere;
  }
  return parts.join("");
}

/** @param {string} words */
const escape = (words) => words.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {number} x @param {number} y @param {string} words @param {string} anchor */
const text = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escape(words)}</text>`;

/** @param {number[]} ends @param {string} look */
const rule = ([x1, y1, x2, y2], look) => `<line class="hl-${look}-line" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
