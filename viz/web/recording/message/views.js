// The pictures beside the maps, by view.

import { mask, nextWords, positions } from "../pictures/pictures.js";

/** @typedef {import("../pictures/pictures.js").Picture} Picture */
/** @typedef {import("./version.js").Version} Version */

/**
 * The names of the views of a recording that have pictures.
 * @param {import("./types.js").Recording} recording
 */
export function viewNames({ kinds, positions, candidates, log_probabilities }) {
  const has = {
    mask: kinds.some(({ masks }) => masks),
    positions: Object.values(positions).some(Boolean),
    words: candidates && log_probabilities,
  };
  return Object.entries(has).flatMap(([name, hasPictures]) => (hasPictures ? [name] : []));
}

/**
 * The pictures of each view of a version, built when they are first read.
 * @param {Version} version
 * @returns {Record<string, Picture[]>}
 */
export function viewsOf(version) {
  const { recording, host, options } = version;
  const { speech } = host;
  /** @type {Record<string, Picture[]>} */
  const cache = {};
  /** @param {string} name @param {() => Picture[]} make */
  const once = (name, make) => (cache[name] ??= make());
  return {
    get mask() {
      const layers = version.kinds.map((kind) => ((kind.about.attention.masks?.length ?? 0) > 1 ? kind.open[0] : 0));
      const make = () =>
        recording.kinds.map((kind, i) =>
          mask(recording, kind, layers[i], options.rows, version.kinds[i].titles, speech),
        );
      return viewNames(recording).includes("mask") ? once(`mask ${layers}`, make) : [];
    },
    get positions() {
      return once("positions", () => positions(recording, speech));
    },
    get words() {
      return once("words", () => {
        const every = nextWords(recording, speech);
        if (!every || !version.next) return every ? [every] : [];
        if (every.look) every.look.layout.yaxis.title.text = speech.say("word_just_read");
        const line = speech.say("after_every_word");
        return [{ name: speech.say("after_the_text") }, { ...every, name: speech.say("every_step"), line }];
      });
    },
  };
}
