// What a beam search found, the best first; see model/decoding/beam.py.

/** @typedef {import("./search_tree.js").SearchTree} SearchTree */

/**
 * @typedef {object} Hypothesis One translation that a search found.
 * @property {number[]} ids without start and end token
 * @property {number} log_probability in nats, the end token's included if it is finished
 * @property {number} score log_probability / length penalty; what hypotheses are ranked by
 * @property {boolean} finished by itself and not at the length limit
 * @property {number} node the last one in the tree
 */

/** ((5 + length) / 6) ^ alpha (Wu et al. 2016, equation 14), the end token counted in the length. */
const lengthPenalty = (/** @type {number} */ length, /** @type {number} */ alpha) => ((5 + length) / 6) ** alpha;

/**
 * Ranks the nodes that hypotheses end with.
 * @param {SearchTree} tree
 * @param {number[]} finished
 * @param {number[]} cutOff by the limit, which count only where none ended by itself
 * @param {number} alpha
 * @returns {Hypothesis[]}
 */
export function rankHypotheses(tree, finished, cutOff, alpha) {
  const ended = finished.length > 0;
  const hypotheses = (ended ? finished : cutOff).map((node) => {
    const path = tree.path(node);
    const total = tree.total[node];
    const ids = ended ? path.slice(0, -1) : path;
    return { ids, log_probability: total, score: total / lengthPenalty(path.length, alpha), finished: ended, node };
  });
  return hypotheses.sort((a, b) => b.score - a.score);
}
