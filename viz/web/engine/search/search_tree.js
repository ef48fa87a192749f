// Everything that a search looked at.

import { BOS_ID } from "../text/special.js";

/** One list entry per node; node 0 is the start token. */
export class SearchTree {
  parent = [-1];
  token = [BOS_ID];
  /** Of the token after its parents, in nats. */
  log_probability = [0];
  /** Sum of log_probability from the root. */
  total = [0];
  /**
   * "kept" in the beam, "finished" with the end token, or "pruned": a candidate that found no place.
   * @type {("kept" | "finished" | "pruned")[]}
   */
  fate = ["kept"];

  /**
   * Appends a node and returns its number.
   * @param {number} parent
   * @param {number} token
   * @param {number} total
   * @param {"kept" | "finished" | "pruned"} fate
   */
  add(parent, token, total, fate) {
    this.log_probability.push(total - this.total[parent]);
    this.token.push(token);
    this.total.push(total);
    this.fate.push(fate);
    return this.parent.push(parent) - 1;
  }

  /**
   * The nodes from the root, without it, to a node.
   * @param {number} node
   */
  nodes(node) {
    const nodes = [];
    for (let at = node; at > 0; at = this.parent[at]) nodes.push(at);
    return nodes.reverse();
  }

  /**
   * The tokens of `nodes`.
   * @param {number} node
   */
  path(node) {
    return this.nodes(node).map((at) => this.token[at]);
  }
}
