// The engine as a page uses it: promises of what a worker computes.

import { Problem } from "./run/problem.js";

/** @typedef {import("./run/answer.js").Answer} Answer */
/** @typedef {import("./service.js").Load} Load */
/** @typedef {import("./service.js").Reply} Reply */

/**
 * An answer with what was asked beside it.
 * @typedef {Answer & {effects?: import("./analysis/effects.js").Effects, lens?: import("./analysis/attribution.js").Lens,
 *   occlusion?: import("./run/trace.js").Array32, row?: import("./analysis/inside.js").RecordedRow | null,
 *   why?: import("./analysis/why.js").RowParts | null,
 *   writes?: {place: import("./analysis/head_words.js").WordsPlace, cells: import("./analysis/head_words.js").CellWords[]} | null,
 *   shares?: import("./analysis/split_heads.js").ScoreShares,
 *   probabilities?: number[] | null, order?: import("./analysis/word_order.js").WordOrder}} EngineAnswer
 */

/**
 * @typedef {object} Pending
 * @property {(answer: any) => void} resolve  with what the request asked for
 * @property {(error: Error) => void} reject
 * @property {(received: number) => void} [progress] of bytes, or of the share of a job
 */

export class Engine {
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #last = 0;

  /** @param {Worker} worker of worker.js */
  constructor(worker) {
    this.worker = worker;
    worker.addEventListener("message", ({ data }) => this.#receive(data));
    const startError = "the engine could not be started";
    worker.addEventListener("error", ({ message }) => this.#fail(new Error(message || startError)));
  }

  /**
   * Opens a model under a name; fulfilled with its configuration and the kernel that computes.
   * @param {string} name
   * @param {Load["files"]} files
   * @param {Load["kernels"]} kernels
   * @param {(received: number) => void} [progress] called with the bytes of all files received so far
   * @returns {Promise<{config: import("./run/config.js").Config, kernel: string}>}
   */
  load(name, files, kernels, progress) {
    return this.#send({ do: "load", name, files, kernels }, progress);
  }

  /**
   * Translates; null where a newer request of the same lane took its place.
   * @param {string} name
   * @param {import("./run/translator.js").Request} request
   * @param {{lane?: string, also?: import("./service.js").Job["also"]}} options
   * @returns {Promise<EngineAnswer | null>}
   */
  translate(name, request, { lane = "", also = {} } = {}) {
    return this.#send({ do: "translate", name, request, lane, also });
  }

  /**
   * Measures what comes back of one text in another, part by part; null where a newer request of the same lane took its
   * place. Other requests come first.
   * @param {string} name of the model
   * @param {import("./analysis/patched_parts.js").PatchingRequest} request
   * @param {import("./analysis/patched_parts.js").Part[]} parts
   * @param {{lane?: string, progress?: (share: number) => void}} options
   * @returns {Promise<import("./analysis/patched_parts.js").PatchedParts | null>}
   */
  patch(name, request, parts, { lane = "", progress } = {}) {
    return this.#send({ do: "patch", name, request, parts, lane }, progress);
  }

  /**
   * Reads a padded batch under other masks; null where a newer request of the same lane took its place.
   * @param {string} name of the model
   * @param {import("./analysis/mask_passes.js").MaskRequest} request
   * @returns {Promise<import("./analysis/mask_passes.js").MaskResult | null>}
   */
  masks(name, request, lane = "") {
    return this.#send({ do: "masks", name, request, lane });
  }

  /**
   * What padding and the future change in a pair of sentences; null where a newer request of the same lane took its
   * place.
   * @param {string} name of the model
   * @param {import("./service.js").MaskEffectsJob["request"]} request
   * @returns {Promise<ReturnType<typeof import("./analysis/mask_passes.js").maskEffects> | null>}
   */
  maskEffects(name, request, lane = "") {
    return this.#send({ do: "mask effects", name, request, lane });
  }

  /** Drops what a lane waits for. */
  cancel(lane = "") {
    this.worker.postMessage({ do: "cancel", lane });
  }

  /** Ends the worker; what is pending fails. */
  close() {
    this.worker.terminate();
    this.#fail(new Error("the engine was closed"));
  }

  /**
   * @param {object} message
   * @param {(received: number) => void} [progress]
   * @returns {Promise<any>}
   */
  #send(message, progress) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, progress });
      this.worker.postMessage({ ...message, id });
    });
  }

  /** @param {Reply} reply */
  #receive({ id, answer, received, share, dropped, problem }) {
    const pending = this.#pending.get(id);
    if (!pending) return;
    const progress = received ?? share;
    if (progress !== undefined) return void pending.progress?.(progress);
    this.#pending.delete(id);
    if (problem) pending.reject(errorOf(problem));
    else pending.resolve(dropped ? null : answer);
  }

  /** @param {Error} error */
  #fail(error) {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** @param {import("./service.js").Refusal} problem */
export const errorOf = ({ message, template, values }) => (template ? new Problem(template, values) : new Error(message));
