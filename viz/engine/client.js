// The engine as a page has it: promises, behind which a worker computes.

import { Problem } from "./run/problem.js";

/** @typedef {import("./run/answer.js").Answer} Answer */
/** @typedef {import("./service.js").Load} Load */
/** @typedef {import("./service.js").Reply} Reply */

/**
 * @typedef {object} Pending
 * @property {(answer: any) => void} done
 * @property {(error: Error) => void} failed
 * @property {(received: number) => void} [progress]
 */

export class Engine {
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #last = 0;

  /** @param {Worker} worker of worker.js */
  constructor(worker) {
    this.worker = worker;
    worker.addEventListener("message", ({ data }) => this.#receive(data));
    const refused = "the engine could not be started";
    worker.addEventListener("error", ({ message }) => this.#fail(new Error(message || refused)));
  }

  /**
   * Opens a model under a name; fulfilled with its configuration and the kernel that computes.
   * @param {string} name
   * @param {Load["files"]} files
   * @param {Load["kernels"]} kernels
   * @param {(received: number) => void} [progress] is told how many bytes of all files have come
   * @returns {Promise<{config: import("./run/config.js").Config, kernel: string}>}
   */
  load(name, files, kernels, progress) {
    return this.#send({ do: "load", name, files, kernels }, progress);
  }

  /**
   * Translates; null if the answer is no longer wanted, because another request of the same lane came.
   * @param {string} name
   * @param {import("./run/translator.js").Request} request
   * @param {{lane?: string, also?: import("./service.js").Job["also"]}} options
   * @returns {Promise<Answer & {effects?: import("./analysis/effects.js").Effects, lens?: import("./analysis/attribution.js").Lens,
   *   occlusion?: import("./run/trace.js").Array32, row?: import("./analysis/inside.js").RecordedRow | null} | null>}
   */
  translate(name, request, { lane = "", also = {} } = {}) {
    return this.#send({ do: "translate", name, request, lane, also });
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
    return new Promise((done, failed) => {
      this.#pending.set(id, { done, failed, progress });
      this.worker.postMessage({ ...message, id });
    });
  }

  /** @param {Reply} reply */
  #receive({ id, answer, received, dropped, problem }) {
    const pending = this.#pending.get(id);
    if (!pending) return;
    if (received !== undefined) return void pending.progress?.(received);
    this.#pending.delete(id);
    if (problem) pending.failed(errorOf(problem));
    else pending.done(dropped ? null : answer);
  }

  /** @param {Error} error */
  #fail(error) {
    for (const { failed } of this.#pending.values()) failed(error);
    this.#pending.clear();
  }
}

/** @param {any} problem */
const errorOf = ({ message, template, values }) => (template ? new Problem(template, values) : new Error(message));
