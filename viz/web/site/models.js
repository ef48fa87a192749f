// The engine and its models, each loaded when it is first asked for.

import { Engine } from "../engine/client.js";
import { fromBase64, readFile, startWorker } from "./settings.js";

/** @typedef {import("../engine/run/answer.js").Answer} Answer */
/** @typedef {import("./settings.js").Model} Model */
/** @typedef {import("./settings.js").Settings} Settings */

/** @typedef {(model: Model, received: number) => void} Progress called with the bytes of a model received so far */

const CACHED = 24; // answers

export class Models {
  /** @type {Map<string, Promise<void>>} */
  #loaded = new Map();
  /** @type {Set<string>} */
  #ready = new Set();
  /** @type {Map<string, any>} */
  #answers = new Map();
  /** @type {Engine | undefined} */
  #engine;

  /**
   * @param {Settings} settings
   * @param {Progress} progress
   */
  constructor(settings, progress) {
    this.settings = settings;
    this.progress = progress;
    const kernels = Object.entries(settings.kernels).map(([name, text]) => [name, fromBase64(text)]);
    this.kernels = Object.fromEntries(kernels);
  }

  /** In a worker, which is fetched when it is first asked. */
  get engine() {
    this.#engine ??= new Engine(startWorker(this.settings));
    return this.#engine;
  }

  /** The model of a name, else the default one. @param {string} name */
  get(name) {
    return this.settings.models.find((model) => model.name === name) ?? this.settings.models[0];
  }

  /** @param {string} name */
  isLoaded(name) {
    return this.#ready.has(name);
  }

  /**
   * Loads a model unless it is there.
   * @param {string} name
   */
  load(name) {
    let loaded = this.#loaded.get(name);
    if (!loaded) {
      loaded = this.#load(this.get(name));
      this.#loaded.set(name, loaded);
      loaded.catch(() => this.#loaded.delete(name)); // may be tried again
    }
    return loaded;
  }

  /** @param {Model} model */
  async #load(model) {
    const received = { tokenizer: 0, weights: 0 };
    /** @param {"tokenizer" | "weights"} part @param {string} file */
    const readPart = (part, file) =>
      readFile(this.settings, `${model.name}/${file}`, (count) => {
        received[part] = count;
        this.progress(model, received.tokenizer + received.weights);
      });
    const { engine } = this; // its worker comes while the weights do
    this.progress(model, 0);
    const files = [readPart("tokenizer", "tokenizer.json"), readPart("weights", "model.safetensors")];
    const [tokenizer, weights] = await Promise.all(files);
    const config = new TextEncoder().encode(JSON.stringify(model.config));
    await engine.load(model.name, { config, tokenizer, weights }, this.kernels);
    this.#ready.add(model.name);
    this.progress(model, model.size);
  }

  /**
   * An answer of the engine, cached; null where a newer request of the lane took its place.
   * @param {string} name of the model
   * @param {import("../engine/run/translator.js").Request} request
   * @param {import("../engine/service.js").Job["also"]} [also]
   * @returns {Promise<import("../engine/client.js").EngineAnswer | null>}
   */
  async answer(name, request, also = {}, lane = "stage") {
    await this.load(name);
    return this.#cached([name, request, also], () => this.engine.translate(name, request, { lane, also }));
  }

  /**
   * What comes back of one text in another, cached; null where a newer request of the lane took its place.
   * @param {string} name of the model
   * @param {import("../engine/analysis/patched_parts.js").PatchingRequest} request
   * @param {import("../engine/analysis/patched_parts.js").Part[]} parts
   * @param {string} lane
   * @param {(share: number) => void} [progress]
   * @returns {Promise<import("../engine/analysis/patched_parts.js").PatchedParts | null>}
   */
  async patch(name, request, parts, lane, progress) {
    await this.load(name);
    return this.#cached([name, request, parts], () => this.engine.patch(name, request, parts, { lane, progress }));
  }

  /** Drops what a lane waits for. @param {string} lane */
  cancel(lane) {
    this.#engine?.cancel(lane);
  }

  /**
   * @param {unknown} asked
   * @param {() => Promise<any>} compute
   */
  async #cached(asked, compute) {
    const key = JSON.stringify(asked);
    const cached = this.#answers.get(key);
    this.#answers.delete(key);
    const answer = cached ?? (await compute());
    if (answer) this.#answers.set(key, answer);
    if (this.#answers.size > CACHED) this.#answers.delete(/** @type {string} */ (this.#answers.keys().next().value));
    return answer;
  }
}
