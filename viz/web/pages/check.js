// Translates the sentence of the page Self-check once more, with the engine in this browser, and compares.

import { unpack } from "../recording/message/packed.js";

/**
 * @typedef {object} Task
 * @property {string} name of the task, which its result has too
 * @property {boolean} known whether the page has its result
 * @property {string} client address of the engine's client.js
 * @property {string} worker address of its worker.js
 * @property {Record<string, string>} kernels addresses by name, the fastest first
 * @property {Record<"config" | "tokenizer" | "weights", string>} files addresses of the checkpoint's
 * @property {import("../engine/run/translator.js").Request} request
 * @property {{ids: number[], weights: Record<string, Float32Array>}} expected what Python computed: the ids of the
 *   translation, and by kind all weights in a row
 */

/**
 * @typedef {object} Result
 * @property {string} name of the task
 * @property {boolean} [same] whether the translations are equal, token by token
 * @property {number} [deviation] the largest difference of a weight
 * @property {number} [compared] how many weights were
 * @property {string} [problem] why nothing could be compared
 */

/** @type {Map<string, Promise<import("../engine/client.js").Engine>>} engines by the address of the weights */
const engines = new Map();
/** @type {Map<string, Promise<Result>>} results by name */
const results = new Map();

/**
 * Compares an answer of the engine with what Python computed.
 * @param {import("../engine/run/answer.js").Answer} answer
 * @param {Task["expected"]} expected
 */
export function compareAnswers({ predicted_ids: ids, attention }, expected) {
  const same = ids.length === expected.ids.length && ids.every((id, step) => id === expected.ids[step]);
  let [deviation, compared] = [0, 0];
  for (const [kind, weights] of Object.entries(expected.weights)) {
    const numbers = /** @type {Record<string, {data: Float32Array}>} */ (attention)[kind]?.data ?? [];
    if (numbers.length !== weights.length) return { same: false, deviation: 1, compared };
    for (let i = 0; i < weights.length; i++) {
      const difference = Math.abs(numbers[i] - weights[i]);
      if (!(difference <= deviation)) deviation = difference;
    }
    compared += weights.length;
  }
  return { same, deviation, compared };
}

/** @param {Task} task */
async function open({ client, worker, kernels, files }) {
  const { Engine } = await import(client);
  const engine = new Engine(new Worker(worker, { type: "module" }));
  await engine.load("model", files, kernels);
  return engine;
}

/** @param {Task} task @returns {Promise<Result>} */
async function compute(task) {
  const { name, files, request, expected } = task;
  try {
    const loading = engines.get(files.weights) ?? open(task);
    engines.set(files.weights, loading);
    const engine = await loading;
    return { name, ...compareAnswers(await engine.translate("model", request), expected) };
  } catch (error) {
    engines.delete(files.weights); // may be tried again
    return { name, problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Shows nothing; gives the page the result of a message's task.
 * @param {{data: Uint8Array, setStateValue: (name: string, value: Result) => void}} component
 */
export function show({ data, setStateValue }) {
  const task = unpack(data);
  if (task.known) return;
  const result = results.get(task.name) ?? compute(task);
  results.set(task.name, result);
  result.then((value) => setStateValue("result", value));
}
