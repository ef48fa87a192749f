// The numbers of patching: those that came with the message, and those that are fetched part by part.

import { unpack } from "../../recording/message/packed.js";

/** @typedef {import("./payload.js").PatchingPayload} PatchingPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

const EVERY = 250; // ms between two looks at how far a part is
const HEADS = ["both", "weights", "values"];
let count = 0; // of questions
/** @typedef {"overview" | "estimate" | "heads both" | "heads weights" | "heads values" | "streams" | "sublayers"} PartName */

/** Whether a share is known: positions without a partner have none. @param {unknown} share @returns {share is number} */
export const isShare = (share) => typeof share === "number" && Number.isFinite(share);

/**
 * Joins two values as they are in payloads: objects by their names, all else by taking the other.
 * @param {any} one
 * @param {any} other
 * @returns {any}
 */
export function merge(one, other) {
  if (one?.constructor !== Object || other?.constructor !== Object) return other;
  const both = { ...one };
  for (const [name, value] of Object.entries(other)) both[name] = name in one ? merge(one[name], value) : value;
  return both;
}

export class PatchingNumbers {
  /** @type {PatchingPayload | null} all that is known */ payload = null;
  /** Why there are no numbers. */ reason = "";
  /** @type {string} where they are fetched */ address = "";
  /** @type {Set<PartName>} parts that are exact */ exact = new Set();
  /** @type {PartName | null} what is fetched now */ running = null;
  /** How much of it is done. */ share = 0;
  isStopped = false;
  /** What the last message said. */
  reverse = false;

  /**
   * @param {Stage} stage
   * @param {() => unknown} changed  is called when there are others
   */
  constructor(stage, changed) {
    this.stage = stage;
    this.changed = changed;
  }

  /**
   * Takes what a message says; the numbers of the same texts stay.
   * @param {import("./payload.js").AnyPatchingPayload | null | undefined} payload
   */
  take(payload) {
    const address = (payload && "address" in payload && payload.address) || "";
    this.reason = payload && "reason" in payload ? payload.reason : "";
    this.isThere = Boolean(payload);
    if (!payload || "reason" in payload) return this.forget("");
    this.reverse = payload.reverse;
    if (!address || address !== this.address) this.forget(address);
    if ("words" in payload && !this.payload) this.add(payload, payload.estimate);
  }

  /** @param {string} address  of other texts */
  forget(address) {
    if (this.running) this.ask(this.address, this.running, "stop").catch(() => {});
    Object.assign(this, { payload: null, address, exact: new Set(), running: null, share: 0, isStopped: false });
  }

  /** @param {any} numbers  of some parts @param {boolean} [isEstimate] */
  add(numbers, isEstimate = false) {
    this.payload = merge(this.payload ?? {}, numbers);
    if (isEstimate || !this.payload) return;
    const parts = Object.values(numbers.heads ?? {}).flatMap((ofKind) => Object.keys(ofKind).map((what) => `heads ${what}`));
    if (Object.keys(numbers.streams ?? {}).length) parts.push("streams");
    if (Object.keys(numbers.sublayers ?? {}).length) parts.push("sublayers");
    for (const part of parts) this.exact.add(/** @type {PartName} */ (part));
  }

  /** Whether the shares of a part are those of one gradient. @param {PartName} part */
  isEstimate(part) {
    return !this.exact.has(part);
  }

  /**
   * Fetches what is wanted and not there, one part after the other, an estimate first.
   * @param {PartName[]} wanted
   */
  async fetch(wanted) {
    const missing = this.next(wanted);
    if (!missing || this.running || this.isStopped || !this.address) return;
    const { address } = this;
    Object.assign(this, { running: missing, share: 0 });
    const looks = setInterval(() => this.look(address, missing), EVERY);
    const answer = await this.ask(address, missing).catch(() => ({ reason: this.stage.say("failed") }));
    clearInterval(looks);
    if (address !== this.address) return;
    this.running = null;
    if (answer.reason) this.fail(answer.reason);
    else if (!answer.stopped) this.add(answer, missing === "estimate");
    this.changed();
  }

  /** @param {PartName[]} wanted @returns {PartName | null} */
  next(wanted) {
    if (!this.payload) return "overview";
    const missing = wanted.find((part) => !this.exact.has(part)) ?? null;
    const hasSome = Object.keys(this.payload.heads).length > 0;
    return missing && !hasSome ? "estimate" : missing;
  }

  /** @param {string} reason */
  fail(reason) {
    this.isStopped = true;
    this.reason = reason;
  }

  /** @param {string} address @param {PartName} part */
  async look(address, part) {
    const { share } = await this.ask(address, part, "progress").catch(() => ({ share: null }));
    if (address !== this.address || this.running !== part || share === null || share === this.share) return;
    this.share = share;
    this.changed();
  }

  stop() {
    this.isStopped = true;
    if (this.running) this.ask(this.address, this.running, "stop").catch(() => {});
    this.changed();
  }

  goOn() {
    this.isStopped = false;
    this.changed();
  }

  /** @param {string} address @param {PartName} part @param {string} [ask] @returns {Promise<any>} */
  async ask(address, part, ask) {
    const query = new URLSearchParams({ part, ...(ask && { ask }), n: String(++count) }); // no answer is one of before
    const bytes = await this.stage.host.part(`${address}?${query}`);
    return unpack(new Uint8Array(bytes));
  }
}

/** The part that the shares of heads are of. @param {string} what @returns {PartName} */
export const partOfHeads = (what) => /** @type {PartName} */ (`heads ${HEADS.includes(what) ? what : HEADS[0]}`);

/**
 * The head with the largest share.
 * @param {PatchingPayload} payload
 * @param {string} what
 */
export function strongest({ heads, layers }, what) {
  /** @type {{kind: string, layer: number, head: number, share: number} | null} */
  let best = null;
  for (const [kind, ofKind] of Object.entries(heads)) {
    Array.from(ofKind[what] ?? []).forEach((row, i) =>
      Array.from(row).forEach((share, head) => {
        if (!isShare(share) || (best && best.share >= share)) return;
        best = { kind, layer: layers?.[kind]?.[i] ?? i, head, share };
      }),
    );
  }
  return /** @type {{kind: string, layer: number, head: number, share: number} | null} */ (best);
}
