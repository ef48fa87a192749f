// The engine and its models as the site has them, in Node and without a worker.

import { readFileSync } from "node:fs";

import { errorOf } from "../../../viz/web/engine/client.js";
import { Service } from "../../../viz/web/engine/service.js";

const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
const PLACES = { config: "config.json", tokenizer: "tokenizer.json", weights: "model.safetensors" };

/**
 * Models that are loaded.
 * @param {any} settings of the site
 * @param {Record<string, string>} folders of checkpoints, by name
 * @returns {Promise<any>} as viz/web/site/models.js
 */
export async function nodeModels(settings, folders) {
  /** @type {Map<number, (reply: any) => void>} */
  const pending = new Map();
  let last = 0;
  const service = new Service((reply) => {
    if (reply.received === undefined && reply.share === undefined) pending.get(reply.id)?.(reply);
  });

  /** @param {any} message @returns {Promise<any>} */
  async function ask(message) {
    const id = ++last;
    const reply = await new Promise((done) => {
      pending.set(id, done);
      service.receive({ ...message, id });
    });
    if (reply.problem) throw errorOf(reply.problem);
    return reply.answer;
  }

  const kernels = { simd: bytes(new URL("../../../viz/web/engine/kernel.wasm", import.meta.url).pathname) };
  for (const [name, folder] of Object.entries(folders)) {
    const files = Object.fromEntries(Object.entries(PLACES).map(([part, file]) => [part, bytes(`${folder}/${file}`)]));
    await ask({ do: "load", name, files, kernels });
  }
  return {
    get: (/** @type {string} */ name) => settings.models.find((/** @type {any} */ model) => model.name === name),
    isLoaded: (/** @type {string} */ name) => name in folders,
    answer: (/** @type {string} */ name, /** @type {any} */ request, also = {}, lane = "") =>
      ask({ do: "translate", name, request, also, lane }),
    patch: (/** @type {string} */ name, /** @type {any} */ request, /** @type {any} */ parts, lane = "") =>
      ask({ do: "patch", name, request, parts, lane }),
    masks: (/** @type {string} */ name, /** @type {any} */ request) => ask({ do: "masks", name, request, lane: "masks" }),
    maskEffects: (/** @type {string} */ name, /** @type {any} */ request) => ask({ do: "mask effects", name, request, lane: "" }),
    settings,
  };
}
