// What the browser reads from files of films and computes of them, for test_film.py: as JSON.

import { readFileSync, writeFileSync } from "node:fs";

import { bestHead, curvesOf, frameAt, kindOf, lossAt, mapOf, readFilm } from "../../../../viz/web/recording/film/film.js";

const [answersPath, ...paths] = process.argv.slice(2);

/** Numbers as JSON has them; those that it lacks as null. @param {string} _ @param {unknown} value */
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {Float32Array} */ (value)) : value);

/** @param {string} path */
async function answer(path) {
  const film = await readFilm(Uint8Array.from(readFileSync(path)));
  const frames = Array.from(film.steps, (_, frame) => frame);
  const most = film.steps[film.steps.length - 1];
  const kinds = Object.keys(film.texts[0].maps);
  const last = film.steps.length - 1;
  return {
    film,
    losses: frames.map((frame) => lossAt(film, frame)),
    frames: Array.from({ length: most + 2 }, (_, step) => frameAt(film, step)),
    best: Object.fromEntries(Object.keys(film.scores).map((rule) => [rule, [...bestHead(film, rule), kindOf(film, rule)]])),
    curves: curvesOf(film),
    map: kinds.map((kind) => mapOf(film.texts[0], kind, [last, 0, 1])),
  };
}

writeFileSync(answersPath, JSON.stringify(await Promise.all(paths.map(answer)), plain));
