// Who uses whom: the circuit of a word and the graph of all heads, pruned. Numbers come from viz/stage/payload/circuit.py.

/** @typedef {import("../message/types.js").KindCode} KindCode */
/** @typedef {[kind: KindCode, layer: number, head: number]} HeadName  the layer as the model numbers it */
/** @typedef {"q" | "k" | "v"} SideCode  queries, keys, values */

/**
 * A head at a position of its queries.
 * @typedef {object} CircuitNode
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 * @property {number} position
 * @property {number} effect  the logits that it adds itself to the word; 0 where it stands at another step
 * @property {number} amount  the logits that come from it in all, by the gradient
 * @property {number} key  where it looks most
 * @property {number} weight  there
 */

/**
 * What one node wrote, in one side of another.
 * @typedef {object} CircuitEdge
 * @property {number} from  the number of a node
 * @property {number} to
 * @property {SideCode} side
 * @property {number} share  in the score where the target looks, or in what it writes
 * @property {number} amount  logits, by the gradient
 */

/**
 * The circuit of a word.
 * @typedef {object} CircuitPayload
 * @property {string} word
 * @property {string | null} other  what its logit is compared with; null: the mean of all words
 * @property {number} least  the share of the logit from which it was traced
 * @property {number} logit
 * @property {number} step
 * @property {CircuitNode[]} nodes
 * @property {CircuitEdge[]} edges
 * @property {HeadName[]} heads  all of them
 * @property {ArrayLike<number>} effects  of each the logits that it adds itself
 */

/**
 * What is left of the logit where heads outside of the circuit are replaced.
 * @typedef {object} KeptPayload
 * @property {number} whole  where none is
 * @property {number} heads  all but those of the circuit
 * @property {number} places  those, too, at positions at which they are not in it
 * @property {number} nothing  where all are
 * @property {number} texts  over which means were taken; 0: over the positions of the text itself
 * @property {number} threshold  from which the circuit was pruned
 */

/**
 * One edge cut.
 * @typedef {object} EdgePayload
 * @property {number} lost  logits
 * @property {number} weight  of the target, where it looks most, before
 * @property {number | null} predicted  by the split; null of an edge of values
 * @property {number | null} actual
 */

/**
 * Who uses whom in a text: N heads and E edges, the largest share first.
 * @typedef {object} HeadGraphPayload
 * @property {HeadName[]} heads
 * @property {number} least  share from which edges are here
 * @property {ArrayLike<number>} source  (E,) the number of a head
 * @property {ArrayLike<number>} target  (E,)
 * @property {ArrayLike<number>} side  (E,) the place in SIDES
 * @property {ArrayLike<number>} share  (E,)
 */

/**
 * Where circuits are fetched; in a file what was fetched.
 * @typedef {object} CircuitAnswers
 * @property {string} [address]
 * @property {CircuitPayload} [word]
 * @property {KeptPayload} [kept]
 * @property {HeadGraphPayload} [graph]
 */

/**
 * A line of the picture, between two heads.
 * @typedef {object} Link
 * @property {string} source  the key of a head
 * @property {string} target
 * @property {SideCode} side
 * @property {number} value  logits in a circuit, else a share
 * @property {number[]} edges  numbers of the edges of a circuit that it stands for
 */

/** @type {SideCode[]} */
export const SIDES = ["q", "k", "v"];
export const MOST_LINKS = 300; // that are drawn
const NOTHING = 1e-9; // as in model/analysis/circuits.py
const LITTLE = 0.1; // of the logit: where all heads together make less of it, no share of that says anything

/** The key of a head. @param {{kind: string, layer: number, head: number}} place */
export const keyOf = ({ kind, layer, head }) => `${kind} ${layer}.${head}`;

/** @param {HeadName} name */
export const keyOfName = ([kind, layer, head]) => keyOf({ kind, layer, head });

/**
 * The nodes and edges of a circuit from a larger share on, by number: `Circuit.pruned` of model/analysis/circuits.py.
 * @param {CircuitPayload} circuit
 * @param {number} threshold
 * @returns {{nodes: number[], edges: number[]}}
 */
export function prune({ nodes, edges, logit }, threshold) {
  const least = threshold * Math.max(Math.abs(logit), NOTHING);
  const isLarge = edges.map(({ amount }) => Math.abs(amount) >= least);
  /** @type {Set<number>} */
  const reached = new Set();
  const waiting = [...nodes.keys()].filter((i) => Math.abs(nodes[i].effect) >= least);
  while (waiting.length) {
    const node = /** @type {number} */ (waiting.pop());
    if (reached.has(node)) continue;
    reached.add(node);
    edges.forEach(({ from, to }, i) => isLarge[i] && to === node && waiting.push(from));
  }
  return {
    nodes: [...nodes.keys()].filter((i) => reached.has(i)),
    edges: [...edges.keys()].filter((i) => isLarge[i] && reached.has(edges[i].to)),
  };
}

/**
 * The lines of a circuit: edges between the same heads on the same side are one.
 * @param {CircuitPayload} circuit
 * @param {number[]} numbers  of its edges
 * @returns {Link[]} the largest first
 */
export function linksOfCircuit({ nodes, edges }, numbers) {
  /** @type {Map<string, Link>} */
  const links = new Map();
  for (const number of numbers) {
    const { from, to, side, amount } = edges[number];
    const [source, target] = [keyOf(nodes[from]), keyOf(nodes[to])];
    const name = [source, target, side].join();
    const link = links.get(name) ?? { source, target, side, value: 0, edges: [] };
    link.value += amount;
    link.edges.push(number);
    links.set(name, link);
  }
  return largestFirst([...links.values()]);
}

/**
 * The lines of the graph of all heads from a share on: those of the open head, then the largest of the others.
 * @param {HeadGraphPayload} graph
 * @param {number} threshold
 * @param {string} open  the key of the open head
 * @returns {{near: Link[], far: Link[], n: number}} n: how many there are, of which at most MOST_LINKS are drawn
 */
export function linksOfGraph({ heads, source, target, side, share }, threshold, open) {
  const keys = heads.map(keyOfName);
  const place = keys.indexOf(open);
  /** @type {Link[]} */
  const near = [];
  /** @type {Link[]} */
  const far = [];
  let n = 0;
  for (let i = 0; i < share.length && Math.abs(share[i]) >= threshold; i++) {
    n += 1;
    const links = source[i] === place || target[i] === place ? near : far;
    if (links.length >= MOST_LINKS) continue;
    links.push({ source: keys[source[i]], target: keys[target[i]], side: SIDES[side[i]], value: share[i], edges: [] });
  }
  return { near, far: far.slice(0, Math.max(0, MOST_LINKS - near.length)), n };
}

/** @param {Link[]} links */
const largestFirst = (links) => links.sort((one, other) => Math.abs(other.value) - Math.abs(one.value));

/**
 * What a circuit keeps of the difference that all heads make, as shares; null where heads make little of the logit.
 * @param {KeptPayload} kept
 */
export function keptShares({ whole, heads, places, nothing }) {
  const difference = whole - nothing;
  if (difference * Math.sign(whole) < LITTLE * Math.abs(whole) || !difference) return null; // or heads take away from it
  return { heads: (heads - nothing) / difference, places: (places - nothing) / difference };
}
