// Answers requests one after the other, and drops those that a newer one replaces. worker.js passes messages to it.

import { lens, occlusion } from "./analysis/attribution.js";
import { openTranslator } from "./run/checkpoint.js";
import { directEffects } from "./analysis/effects.js";
import { fetchBytes } from "./run/files.js";
import { headWords } from "./analysis/head_words.js";
import { recordedRow } from "./analysis/inside.js";
import { compareMasks, maskEffects } from "./analysis/mask_passes.js";
import { patchParts, patchingOf, probabilitiesOf } from "./analysis/patched_parts.js";
import { Problem } from "./run/problem.js";
import { scoreShares } from "./analysis/split_heads.js";
import { rowParts } from "./analysis/why.js";
import { wordOrder } from "./analysis/word_order.js";

/** @typedef {import("./run/translator.js").Request} Request */
/** @typedef {import("./run/translator.js").Translator} Translator */

/**
 * @typedef {object} Load A model to open under a name: the addresses of its files, or their contents.
 * @property {"load"} do
 * @property {number} id
 * @property {string} name
 * @property {Record<"config" | "tokenizer" | "weights", string | Uint8Array>} files
 * @property {Record<string, string | Uint8Array>} kernels by name, the fastest first
 */

/**
 * @typedef {object} Job A request to a model. A newer one of its lane takes its place.
 * @property {"translate"} do
 * @property {number} id
 * @property {string} name of the model
 * @property {Request} request
 * @property {string} lane
 * @property {Also} [also]
 */

/**
 * @typedef {object} Also What to compute beside the translation.
 * @property {{against: string | number[] | null}} [effects] direct effects, and what logits are compared with
 * @property {number} [lens] how many words of each cell of the layer lens
 * @property {boolean} [occlusion] whether source tokens are left out, one after the other
 * @property {import("./analysis/inside.js").Place} [row] of a head, of which it is shown how it is computed
 * @property {import("./analysis/why.js").Cell} [why] of a head, whose score is split into parts
 * @property {import("./analysis/head_words.js").WordsPlace} [writes] what a head looks at, whose words are asked for
 * @property {{ids: number[], step: number}} [words] whose probabilities at a step are asked for
 * @property {boolean} [shares] whether it is said what decides where each head looks
 * @property {number} [order] the seed of another order of the words, of which it is said whether the encoder sees it
 * @property {boolean} [only] whether the answer is what was asked of heads, without the translation
 */

/**
 * @typedef {object} PatchJob What is put from one text into another, and measured; in the background.
 * @property {"patch"} do
 * @property {number} id
 * @property {string} name of the model
 * @property {import("./analysis/patched_parts.js").PatchingRequest} request
 * @property {import("./analysis/patched_parts.js").Part[]} parts
 * @property {string} lane
 */

/**
 * @typedef {object} MaskJob A padded batch that is read under other masks.
 * @property {"masks"} do
 * @property {number} id
 * @property {string} name of the model
 * @property {import("./analysis/mask_passes.js").MaskRequest} request
 * @property {string} lane
 */

/**
 * @typedef {object} MaskEffectsJob What padding and the future change in a pair of sentences.
 * @property {"mask effects"} do
 * @property {number} id
 * @property {string} name of the model
 * @property {Parameters<typeof maskEffects>[1]} request
 * @property {string} lane
 */

/** @typedef {Job | PatchJob | MaskJob | MaskEffectsJob} Work */
/** @typedef {Load | Work | {do: "cancel", lane: string}} Message */
/**
 * Why a job could not be done: a sentence, and where it has values, its template and these.
 * @typedef {{message: string, template?: string | null, values?: Record<string, import("./run/problem.js").Value>}} Refusal
 */
/**
 * @typedef {{id: number, answer?: unknown, received?: number, share?: number, dropped?: boolean, problem?: Refusal}} Reply
 *   `received` bytes of a model so far; the `share` of a job that is done
 */

/** @type {(keyof Also)[]} */
const NEED_TRACE = ["effects", "lens", "row", "why", "writes", "shares", "words"];
const TURN = 8; // milliseconds of work, after which messages are looked at

class Dropped extends Error {}

export class Service {
  /** @type {Map<string, Promise<Translator>>} */
  #translators = new Map();
  /** @type {Work[]} */
  #waiting = [];
  /** @type {Work[]} that run: a single one, or first those in the background that wait for it */
  #jobs = [];
  /** @type {Set<Work>} */
  #unwanted = new Set();
  #turn = 0;
  /** @type {{key: string, answer: any} | null} the last answer with its trace: who looks into it asks more than once */
  #traced = null;
  /** @type {{key: string, patching: import("./analysis/patching.js").Patching} | null} the last one: more is asked of it */
  #patching = null;

  /** @param {(reply: Reply) => void} reply */
  constructor(reply) {
    this.reply = reply;
  }

  /** @param {Message} message */
  receive(message) {
    if (message.do === "load") return void this.#load(message);
    this.#drop(message.lane);
    if (message.do === "cancel") return;
    this.#waiting.push(message);
    this.#work();
  }

  /** @param {Load} message */
  async #load({ id, name, files, kernels }) {
    const loading = this.#open(id, files, kernels);
    this.#translators.set(name, loading);
    this.#traced = null; // perhaps of another model of this name
    this.#patching = null;
    try {
      const { model } = await loading;
      this.reply({ id, answer: { config: model.config, kernel: model.memory.variant } });
    } catch (error) {
      this.#translators.delete(name);
      this.#refuse(id, error);
    }
  }

  /**
   * @param {number} id
   * @param {Load["files"]} files
   * @param {Load["kernels"]} kernels
   */
  async #open(id, files, kernels) {
    /** @type {Map<string, number>} */
    const received = new Map();
    /** @type {(file: string | Uint8Array) => Promise<Uint8Array>} */
    const bytesOf = async (file) => {
      if (typeof file !== "string") return file;
      return fetchBytes(file, (count) => {
        received.set(file, count);
        this.reply({ id, received: [...received.values()].reduce((a, b) => a + b, 0) });
      });
    };
    const all = [files.config, files.tokenizer, files.weights, ...Object.values(kernels)];
    const [config, tokenizer, weights, ...compiled] = await Promise.all(all.map(bytesOf));
    const json = (/** @type {Uint8Array} */ bytes) => JSON.parse(new TextDecoder().decode(bytes));
    const entries = Object.keys(kernels).map((name, i) => [name, compiled[i]]);
    return openTranslator({ config: json(config), tokenizer: json(tokenizer), weights }, Object.fromEntries(entries));
  }

  /** @param {string} lane */
  #drop(lane) {
    for (const job of this.#waiting) if (job.lane === lane) this.reply({ id: job.id, dropped: true });
    this.#waiting = this.#waiting.filter((job) => job.lane !== lane);
    for (const job of this.#jobs) if (job.lane === lane) this.#unwanted.add(job);
  }

  async #work() {
    if (this.#jobs.length) return;
    for (let job = this.#waiting.shift(); job; job = this.#waiting.shift()) await this.#do(job);
  }

  /** @param {Work} job */
  async #do(job) {
    this.#jobs.push(job);
    try {
      const answer = await this.#compute(job);
      await this.#pause(job, true); // a newer request may have come
      this.reply({ id: job.id, answer });
    } catch (error) {
      if (error instanceof Dropped) this.reply({ id: job.id, dropped: true });
      else this.#refuse(job.id, error);
    }
    this.#unwanted.delete(job);
    this.#jobs.pop();
  }

  /** @param {Work} job @returns {Promise<unknown>} */
  async #compute(job) {
    if (job.do === "patch") return this.#patch(job);
    if (job.do === "masks") return compareMasks(await this.#translator(job.name), job.request, () => this.#pause(job));
    if (job.do === "mask effects") return maskEffects(await this.#translator(job.name), job.request);
    return this.#answer(job);
  }

  /** @param {Job} job */
  async #answer(job) {
    const { name, request, also = {} } = job;
    const translator = await this.#translator(name);
    const pause = () => this.#pause(job);
    const traced = request.traced || NEED_TRACE.some((name) => also[name]);
    const answer = traced ? await this.#withTrace(translator, name, request, pause) : await translator.translate(request, pause);
    const effects = also.effects && directEffects(translator.model, answer, also.effects.against);
    const words = also.lens && lens(translator, answer, also.lens);
    const without = also.occlusion && (await occlusion(translator, answer, request, pause));
    const row = also.row && recordedRow(translator.model.config, answer, also.row);
    const probabilities = also.words && probabilitiesOf(answer, also.words);
    const why = also.why && rowParts(translator.model, answer, also.why);
    const writes = also.writes && headWords(translator, answer, also.writes);
    const shares = also.shares && (await scoreShares(translator.model, answer, () => this.#standBack(job)));
    if (also.only) return { why, writes, shares };
    const order = also.order === undefined ? undefined : wordOrder(translator, request.text, also.order);
    const trace = request.traced ? answer.trace : null;
    const ofHeads = { row, why, writes, shares };
    const reply = { ...answer, trace, effects, lens: words, occlusion: without, ...ofHeads, probabilities, order };
    return traced ? structuredClone(reply) : reply;
  }

  /** @param {string} name */
  async #translator(name) {
    const translator = await this.#translators.get(name);
    if (!translator) throw new Error(`no model of the name ${name} was loaded`);
    return translator;
  }

  /**
   * What comes back of one text in another, part by part.
   * @param {PatchJob} job
   */
  async #patch(job) {
    const { id, name, request, parts } = job;
    const translator = await this.#translator(name);
    const key = JSON.stringify([name, request]);
    const cached = this.#patching?.key === key ? this.#patching.patching : null;
    const patching = cached ?? (await patchingOf(translator, request, () => this.#pause(job)));
    this.#patching = { key, patching };
    return patchParts(patching, parts, async (share) => {
      this.reply({ id, share });
      await this.#standBack(job);
    });
  }

  /**
   * The answer to a request with its trace, which is kept until another one is asked for: what travels is a copy, as
   * the worker gives its arrays away.
   * @param {Translator} translator
   * @param {string} name
   * @param {Request} request
   * @param {() => Promise<void>} pause
   */
  async #withTrace(translator, name, request, pause) {
    const key = JSON.stringify([name, request]);
    if (this.#traced?.key === key) return this.#traced.answer;
    const answer = await translator.translate({ ...request, traced: true }, pause);
    this.#traced = { key, answer };
    return answer;
  }

  /**
   * Lets the worker receive messages now and then; throws Dropped where a newer request came.
   * @param {Work} job
   */
  async #pause(job, now = false) {
    if (now || performance.now() - this.#turn > TURN) {
      await nextTask();
      this.#turn = performance.now();
    }
    if (this.#unwanted.has(job)) throw new Dropped();
  }

  /**
   * Like `#pause`, between two steps of work in the background, which keeps nothing in the memory of the engine: all
   * other requests come first.
   * @param {Work} job
   */
  async #standBack(job) {
    await this.#pause(job);
    for (let other = this.#waiting.shift(); other; other = this.#waiting.shift()) await this.#do(other);
    await this.#pause(job);
  }

  /**
   * @param {number} id
   * @param {unknown} error
   */
  #refuse(id, error) {
    const { template = null, values = {} } = error instanceof Problem ? error : {};
    this.reply({ id, problem: { message: error instanceof Error ? error.message : String(error), template, values } });
  }
}

/** Resolves once messages that have come are received; timers would take four milliseconds. */
function nextTask() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(null);
  });
}
