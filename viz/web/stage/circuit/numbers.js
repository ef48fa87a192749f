// The numbers of circuits: fetched part by part while the stage shows what it has, and kept.

import { unpack } from "../../recording/message/packed.js";

/** @typedef {import("../../recording/pictures/circuit.js").CircuitAnswers} CircuitAnswers */
/** @typedef {"word" | "kept" | "edge" | "graph"} PartName */
/** @typedef {Record<string, string | number>} Query  what of a part is asked for */

const EVERY = 300; // ms between two looks at how far a part is
const HELD = 60;

export class CircuitNumbers {
  /** @type {Map<string, any>} by what was asked */
  answers = new Map();
  /** @type {Map<string, number>} how much of what is fetched is done */
  running = new Map();

  /**
   * @param {import("../main/stage.js").Stage} stage
   * @param {() => unknown} changed  is called when there are others
   */
  constructor(stage, changed) {
    this.stage = stage;
    this.changed = changed;
  }

  /** Where numbers are fetched, or what a file carries. @returns {CircuitAnswers} */
  get payload() {
    return numbersOf(this.stage);
  }

  /**
   * The numbers of a part, a reason why there are none, or null until they are here, which are then fetched.
   * @param {PartName} part
   * @param {Query} query
   * @returns {any}
   */
  get(part, query) {
    const { payload, stage } = this;
    const { address } = payload;
    if (!address || !stage.host.ask) return payload[/** @type {keyof CircuitAnswers} */ (part)] ?? null;
    const name = nameOf(address, part, query);
    const answer = this.answers.get(name);
    const isOld = answer?.failed && answer.failed !== stage.message.stamp; // another message, another try
    if (answer && !isOld) return answer;
    if (!this.running.has(name)) this.fetch(address, part, query, name);
    return null;
  }

  /** What is there of a part, without fetching it. @param {PartName} part @param {Query} query */
  peek(part, query) {
    const { address } = this.payload;
    return (address ? this.answers.get(nameOf(address, part, query)) : this.payload[/** @type {"word"} */ (part)]) ?? null;
  }

  /** How much of a part that is fetched is done, from 0 to 1. @param {PartName} part @param {Query} query */
  share(part, query) {
    return this.running.get(nameOf(this.payload.address ?? "", part, query)) ?? 0;
  }

  /** @param {string} address @param {PartName} part @param {Query} query @param {string} name */
  async fetch(address, part, query, name) {
    const { host, message } = this.stage;
    this.running.set(name, 0);
    const looks = setInterval(() => this.look(address, part, query, name), EVERY);
    const failed = { reason: this.stage.say("failed"), failed: message.stamp ?? true };
    const answer = await read(host, addressOf(address, part, query)).catch(() => failed);
    clearInterval(looks);
    this.running.delete(name);
    this.answers.set(name, answer);
    for (const old of [...this.answers.keys()].slice(0, -HELD)) this.answers.delete(old);
    this.changed();
  }

  /** @param {string} address @param {PartName} part @param {Query} query @param {string} name */
  async look(address, part, query, name) {
    const question = { ...query, ask: "progress", n: Date.now() }; // no answer is one of before
    const { share } = await read(this.stage.host, addressOf(address, part, question)).catch(() => ({ share: 0 }));
    if (!this.running.has(name) || share <= (this.running.get(name) ?? 0)) return;
    this.running.set(name, share);
    this.changed();
  }
}

/** Where numbers are fetched, or what a file carries; nothing of what has none. @param {import("../main/state.js").Open} stage @returns {CircuitAnswers} */
export function numbersOf({ result }) {
  const { circuit } = result.payload;
  return circuit && !("reason" in circuit) ? circuit : {};
}

/** @param {string} address @param {PartName} part @param {Query} query */
function addressOf(address, part, query) {
  const parameters = Object.entries({ part, ...query }).map(([name, value]) => [name, String(value)]);
  return `${address}?${new URLSearchParams(parameters)}`;
}

const nameOf = addressOf;

/** @param {import("../main/message.js").Host} host @param {string} address */
const read = (host, address) => host.part(address).then((bytes) => unpack(new Uint8Array(bytes)));
