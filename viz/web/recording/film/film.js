// The file of a film (model/films/file.py): what heads did at about 60 steps of a training. Nothing here needs a page.

import { unpack } from "../message/packed.js";

/**
 * @typedef {object} FilmText
 * @property {string[]} source
 * @property {string[]} target
 * @property {string[][]} predicted  by frame, after each token of the target; or nothing
 * @property {Record<string, Uint8Array[][][][]>} maps  by kind: frames, layers, heads, rows; a weight of 1 is 255
 *
 * @typedef {object} Film
 * @property {Record<string, unknown>} settings
 * @property {Float32Array} losses  of each step
 * @property {Int32Array} steps  after how many each frame was taken
 * @property {Float32Array} right  share of unseen samples, by frame
 * @property {Record<string, Float32Array[][]>} scores  by rule: frames, layers, heads
 * @property {FilmText[]} texts
 * @property {boolean} is_solved
 *
 * @typedef {object} Curve
 * @property {string} rule  or "loss", "right"
 * @property {number} layer
 * @property {number} head
 * @property {boolean} isBest  whether the head ends highest by its rule; of "loss" and "right" always
 * @property {Float32Array} values  by frame, from 0 to 1
 */

const SMOOTH = 9; // steps over which a loss is averaged, as in model/films/film.py

/** Reads the file of a film, compressed or not. @param {Uint8Array} bytes @returns {Promise<Film>} */
export async function readFilm(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return unpack(bytes);
  const copy = new Uint8Array(bytes); // of its own buffer
  const stream = new Blob([copy.buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpack(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** The loss about a frame: the mean of the steps before it. @param {Film} film @param {number} frame */
export function lossAt({ losses, steps }, frame) {
  if (!losses.length) return NaN;
  const step = steps[frame];
  const part = losses.subarray(Math.max(0, step - SMOOTH), Math.max(1, step));
  return part.reduce((all, loss) => all + loss, 0) / part.length;
}

/** The last frame at or before a step. @param {Film} film @param {number} step */
export function frameAt({ steps }, step) {
  let frame = 0;
  while (frame + 1 < steps.length && steps[frame + 1] <= step) frame++;
  return frame;
}

/** The kind of attention that a rule is about. @param {Film} film @param {string} rule */
export const kindOf = (film, rule) => (rule === "source" && "cross" in film.texts[0].maps ? "cross" : "decoder_self");

/** Layer and head of the largest score of a rule in the last frame. @param {Film} film @param {string} rule */
export function bestHead(film, rule) {
  const last = film.scores[rule][film.steps.length - 1];
  let best = [0, 0];
  last.forEach((heads, layer) =>
    heads.forEach((score, head) => {
      if (score > last[best[0]][best[1]]) best = [layer, head];
    }),
  );
  return best;
}

/**
 * All curves on one axis from 0 to 1: the loss as a share of its first value, the share right, the scores of heads.
 * @param {Film} film
 * @returns {Curve[]}
 */
export function curvesOf(film) {
  const frames = Array.from(film.steps, (_, frame) => frame);
  const first = lossAt(film, 0);
  const losses = Float32Array.from(frames, (frame) => lossAt(film, frame) / first);
  /** @type {Curve[]} */
  const curves = [
    { rule: "loss", layer: 0, head: 0, isBest: true, values: losses },
    { rule: "right", layer: 0, head: 0, isBest: true, values: film.right },
  ];
  for (const [rule, scores] of Object.entries(film.scores)) {
    const [bestLayer, best] = bestHead(film, rule);
    scores[0].forEach((heads, layer) =>
      heads.forEach((_, head) => {
        const values = Float32Array.from(frames, (frame) => scores[frame][layer][head]);
        curves.push({ rule, layer, head, isBest: layer === bestLayer && head === best, values });
      }),
    );
  }
  return curves;
}

/** The map of a head in a frame: rows of bytes. @param {FilmText} text @param {string} kind @param {number[]} place */
export const mapOf = (text, kind, [frame, layer, head]) => text.maps[kind][frame][layer][head];
