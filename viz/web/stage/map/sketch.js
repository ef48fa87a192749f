// A figure until Plotly is there, which takes longer to come than all the rest: the same cells, lines, bars and names on a
// canvas, without anything to point at. What this cannot draw as Plotly does waits for it.

import { colours } from "../../recording/pictures/theme.js";
import { afterPainting } from "../frame/dom.js";
import { axisOf, pixelOf, ticksOf } from "./sketch_axes.js";

/** @typedef {import("../../recording/pictures/looks.js").Trace} Trace */
/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */
/** @typedef {import("./sketch_axes.js").SketchAxis} SketchAxis */
/** @typedef {{xaxis: SketchAxis, yaxis: SketchAxis}} Axes */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {{color: string, family: string, size: number}} Font */

const SOFT = "rgba(128, 128, 128, 0.25)";
const DASHES = /** @type {Record<string, number[]>} */ ({ dash: [9, 9], dot: [3, 3], dashdot: [9, 3, 3, 3] });
const BAR = 0.8; // of the distance between two bars
const BESIDE = 4; // pixels between an axis and its names
const TITLE = 14; // pixels of the type of titles that have no size of their own
const UNSEEN = 300; // milliseconds after which nobody looks
const SAMPLE = 26; // pixels of a line in the legend

/** A text of Plotly without its tags. @param {unknown} text */
const plain = (text) => new DOMParser().parseFromString(String(text), "text/html").body.textContent ?? "";

/** @param {Trace} trace */
const isHeat = ({ type }) => type === "heatmap";
/** @param {Trace} trace @param {string} part */
const hasMode = ({ type, mode }, part) => type === "scatter" && String(mode ?? "").includes(part);

/** Whether a trace is drawn here as Plotly draws it. @param {Trace} trace */
function isKnown(trace) {
  if (trace.type === "bar") return trace.orientation !== "h" && !trace.base;
  return isHeat(trace) || trace.type === "scatter";
}

/**
 * Draws a figure on a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {Trace[]} data
 * @param {Layout} layout  with its size and margins in pixels
 * @param {Font} font  of the page
 * @param {string} language
 * @returns {(Axes & {font: Font}) | null}  where it stands; null where nothing is drawn
 */
export function sketch(canvas, data, layout, font, language) {
  const { width, height, margin, annotations = [], shapes = [] } = layout;
  const { l = 80, r = 80, t = 100, b = 80 } = margin ?? {};
  const xaxis = axisOf(layout.xaxis, l, width - l - r, false);
  const yaxis = axisOf(layout.yaxis, t, height - t - b, true);
  const isSimple = data.every(isKnown) && !annotations.length && shapes.every(isFrame);
  const pen = canvas.getContext("2d");
  if (!xaxis || !yaxis || !isSimple || !isOnePanel(layout) || !pen) return null;
  const scale = globalThis.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.style.cssText = `width: ${width}px; height: ${height}px`;
  pen.scale(scale, scale);
  Object.assign(pen, { fillStyle: font.color, font: `${font.size}px ${font.family}` });
  const axes = { xaxis, yaxis };
  for (const trace of data.filter(isHeat)) drawCells(pen, trace, axes);
  drawAxes(pen, axes, font, language);
  pen.save();
  pen.beginPath();
  pen.rect(l, t, xaxis._length, yaxis._length);
  pen.clip();
  drawBars(pen, data, axes);
  for (const trace of data) if (trace.type === "scatter") drawScatter(pen, trace, axes, font);
  for (const shape of shapes) drawFrame(pen, shape, axes);
  pen.restore();
  drawLegend(pen, data, layout, axes, font);
  return { ...axes, font };
}

/** Resolves once what was drawn is seen, which is when Plotly may be fetched; or soon, where nobody looks. */
export const painted = () =>
  new Promise((resolve) => {
    afterPainting(() => resolve(null));
    setTimeout(() => resolve(null), UNSEEN); // browsers paint no page in the background, and no frame out of sight
  });

/** Whether all axes are those of one picture: a second pair only lies over the first, as around maps. @param {Layout} layout */
function isOnePanel(layout) {
  const others = Object.keys(layout).filter((name) => /^[xy]axis\d/.test(name));
  const overlaid = [layout.xaxis.overlaying, layout.yaxis.overlaying];
  if (!others.length) return !overlaid.some(Boolean);
  const isSame = (/** @type {string} */ name) => String(layout[name].range ?? "") === String(layout[`${name[0]}axis`].range);
  return String(overlaid) === "x2,y2" && others.length === 2 && others.every(isSame);
}

/** Whether a shape is a frame about places of both axes. @param {Layout} shape */
const isFrame = ({ type, xref = "x", yref = "y" }) => type === "rect" && /^x2?$/.test(xref) && /^y2?$/.test(yref);

/** @param {Pen} pen @param {Trace} trace @param {Axes} axes */
function drawCells(pen, { z, zmin, zmax, colorscale, xgap = 0, ygap = 0 }, { xaxis, yaxis }) {
  const palette = colours(colorscale).map((colour) => `rgb(${colour.join()})`);
  const last = palette.length - 1;
  const [gapX, gapY] = [xgap / 2, ygap / 2];
  z.forEach((/** @type {ArrayLike<number | null>} */ row, /** @type {number} */ i) => {
    const [top, bottom] = [pixelOf(yaxis, i - 0.5), pixelOf(yaxis, i + 0.5)].sort((a, b) => a - b);
    Array.from(row).forEach((value, j) => {
      if (value === null || Number.isNaN(value)) return;
      const [left, right] = [pixelOf(xaxis, j - 0.5), pixelOf(xaxis, j + 0.5)];
      const share = (value - zmin) / (zmax - zmin);
      pen.fillStyle = palette[Math.round(last * Math.max(0, Math.min(1, share)))];
      pen.fillRect(left + gapX, top + gapY, right - left - 2 * gapX, bottom - top - 2 * gapY);
    });
  });
}

/** @param {Pen} pen @param {Axes} axes @param {Font} font @param {string} language */
function drawAxes(pen, { xaxis, yaxis }, font, language) {
  const [left, top] = [xaxis._offset, yaxis._offset];
  const [right, bottom] = [left + xaxis._length, top + yaxis._length];
  const isAbove = xaxis.layout.side === "top";
  for (const [axis, isUpright] of /** @type {[SketchAxis, boolean][]} */ ([[xaxis, false], [yaxis, true]])) {
    const { layout } = axis;
    pen.font = `${layout.tickfont?.size ?? font.size}px ${font.family}`;
    const [from, to] = isUpright ? [top, bottom] : [left, right];
    const ticks = ticksOf(axis, isUpright, language);
    const isLeaning = isUpright || layout.tickangle;
    const widest = isLeaning ? 0 : Math.max(0, ...ticks.map(([, text]) => pen.measureText(plain(text)).width)) + BESIDE;
    const step = Math.ceil((widest * ticks.length) / axis._length) || 1; // names beside each other do not touch
    for (const [value, text] of ticks.filter((_, i) => i % step === 0)) {
      const place = pixelOf(axis, value);
      if (place < from - 0.5 || place > to + 0.5) continue;
      if (layout.showgrid !== false) drawLine(pen, isUpright ? [[left, place], [right, place]] : [[place, top], [place, bottom]], SOFT, 1);
      pen.fillStyle = font.color;
      const beside = (layout.ticklabelstandoff ?? 0) + BESIDE;
      if (isUpright) write(pen, text, left - beside, place, 0, "right");
      else if (isAbove) write(pen, text, place, top - beside, layout.tickangle ?? 0, layout.tickangle ? "left" : "center", "bottom");
      else write(pen, text, place, bottom + beside, layout.tickangle ?? 0, layout.tickangle ? "right" : "center", "top");
    }
    const title = layout.title?.text;
    if (!title) continue;
    pen.font = `${layout.title.font?.size ?? TITLE}px ${font.family}`;
    if (isUpright) write(pen, title, TITLE, (top + bottom) / 2, -90, "center");
    else write(pen, title, (left + right) / 2, isAbove ? TITLE : bottom + 40, 0, "center");
  }
}

/**
 * @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {number} angle  degrees
 * @param {CanvasTextAlign} align @param {"top" | "bottom" | "middle"} [where]  of a text that does not lean
 */
function write(pen, text, x, y, angle, align, where = "middle") {
  pen.save();
  pen.translate(x, y);
  pen.rotate((angle * Math.PI) / 180);
  Object.assign(pen, { textAlign: align, textBaseline: angle ? "middle" : where });
  pen.fillText(plain(text), 0, 0);
  pen.restore();
}

/** @param {Pen} pen @param {number[][]} points @param {string} colour @param {number} width @param {string} [dash] */
function drawLine(pen, points, colour, width, dash = "solid") {
  pen.save();
  Object.assign(pen, { strokeStyle: colour, lineWidth: width, lineJoin: "round" });
  pen.setLineDash(DASHES[dash] ?? []);
  pen.beginPath();
  for (const [i, [x, y]] of points.entries()) if (i) pen.lineTo(x, y); else pen.moveTo(x, y);
  pen.stroke();
  pen.restore();
}

/** Bars upon each other. @param {Pen} pen @param {Trace[]} data @param {Axes} axes */
function drawBars(pen, data, { xaxis, yaxis }) {
  /** @type {Map<number, number>} how far up a place is full */
  const full = new Map();
  for (const { type, x, y, marker } of data) {
    if (type !== "bar") continue;
    Array.from(x).forEach((place, i) => {
      const from = full.get(Number(place)) ?? 0;
      const to = from + Number(y[i]);
      full.set(Number(place), to);
      const [left, right] = [Number(place) - BAR / 2, Number(place) + BAR / 2].map((value) => pixelOf(xaxis, value));
      pen.fillStyle = Array.isArray(marker?.color) ? marker.color[i] : marker?.color;
      pen.fillRect(left, pixelOf(yaxis, to), right - left, pixelOf(yaxis, from) - pixelOf(yaxis, to));
    });
  }
}

/** Lines, points, texts in cells, and what a mask blocks. @param {Pen} pen @param {Trace} trace @param {Axes} axes @param {Font} font */
function drawScatter(pen, trace, { xaxis, yaxis }, font) {
  const { x, y, line = {}, marker = {}, text = [], textfont = {}, fillcolor } = trace;
  if (!x || !y) return;
  /** @type {number[][][]} */
  const runs = [[]];
  Array.from(x).forEach((value, i) => {
    if (value === null || y[i] === null) runs.push([]);
    else runs[runs.length - 1].push([pixelOf(xaxis, Number(value)), pixelOf(yaxis, Number(y[i]))]);
  });
  const points = runs.flat();
  if (trace.fill === "toself") for (const run of runs.filter(({ length }) => length)) fillArea(pen, run, fillcolor);
  else if (hasMode(trace, "lines")) for (const run of runs) drawLine(pen, run, line.color ?? font.color, line.width ?? 2, line.dash);
  if (hasMode(trace, "markers")) {
    pen.save();
    Object.assign(pen, { fillStyle: marker.color ?? line.color ?? font.color, globalAlpha: marker.opacity ?? 1 });
    for (const [left, top] of points) {
      pen.beginPath();
      pen.arc(left, top, (marker.size ?? 6) / 2, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.restore();
  }
  if (!hasMode(trace, "text")) return;
  pen.font = `${textfont.size ?? font.size}px ${font.family}`;
  points.forEach(([left, top], i) => {
    pen.fillStyle = Array.isArray(textfont.color) ? textfont.color[i] : (textfont.color ?? font.color);
    write(pen, Array.isArray(text) ? text[i] : text, left, top, 0, "center");
  });
}

/** @param {Pen} pen @param {number[][]} points @param {string} colour */
function fillArea(pen, points, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.fill();
}

/** @param {Pen} pen @param {Layout} shape @param {Axes} axes */
function drawFrame(pen, { x0, x1, y0, y1, line = {}, fillcolor }, { xaxis, yaxis }) {
  const [left, right, top, bottom] = [pixelOf(xaxis, x0), pixelOf(xaxis, x1), pixelOf(yaxis, y0), pixelOf(yaxis, y1)];
  const corners = [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
  if (fillcolor) fillArea(pen, corners, fillcolor);
  drawLine(pen, corners, line.color ?? "#444", line.width ?? 2, line.dash);
}

/**
 * Names of lines, in rows above the axes that end at their right, the last one next to them.
 * @param {Pen} pen
 * @param {Trace[]} data
 * @param {Layout} layout
 * @param {Axes} axes
 * @param {Font} font
 */
function drawLegend(pen, data, { showlegend }, { xaxis, yaxis }, font) {
  const names = data.filter((trace) => trace.name && (trace.showlegend ?? data.length > 1));
  if (showlegend === false || !names.length) return;
  pen.font = `${font.size}px ${font.family}`;
  const widthOf = (/** @type {Trace} */ { name }) => pen.measureText(plain(name)).width + SAMPLE + 4 * BESIDE;
  /** @type {Trace[][]} */
  const rows = [[]];
  let room = xaxis._length;
  for (const trace of names) {
    const row = rows[rows.length - 1];
    const width = widthOf(trace);
    room = row.length && room < width ? xaxis._length : room;
    if (room === xaxis._length && row.length) rows.push([trace]);
    else row.push(trace);
    room -= width;
  }
  for (const [i, row] of rows.reverse().entries()) {
    const middle = yaxis._offset - font.size - 1.6 * font.size * i;
    let left = xaxis._offset + xaxis._length - row.reduce((sum, trace) => sum + widthOf(trace), 0);
    for (const trace of row) {
      const { name, line, marker } = trace;
      const colour = line?.color ?? marker?.color ?? font.color;
      drawLine(pen, [[left, middle], [left + SAMPLE, middle]], colour, line?.width ?? 2, line?.dash);
      pen.fillStyle = font.color;
      write(pen, plain(name), left + SAMPLE + BESIDE, middle, 0, "left");
      left += widthOf(trace);
    }
  }
}
