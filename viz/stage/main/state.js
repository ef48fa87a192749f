// What is open, and how the address and the visitor's next page know of it.

import { codesOf } from "../../recording/message/options.js";
import { switchesOf } from "../../recording/pictures/row.js";
import { effects } from "../map/effects.js";
import { inside } from "../map/inside.js";
import { sampling } from "../changes/sampling.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/message/types.js").Side} Side */
/** @typedef {import("../../recording/message/version.js").Version} Version */
/** @typedef {import("./message.js").Host} Host */
/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("./message.js").Recordings} Recordings */

/** @typedef {"after" | "before" | "difference"} VersionName */
/** @typedef {{told: Version, kinds: Map<string, Kind>}} Shown  a version and its kinds by code */
/** @typedef {[Side, number]} Token  a token by its side and its place there */
/** @typedef {{of: VersionName, token: Token}} Pin */

/**
 * What is open.
 * @typedef {object} OpenState
 * @property {string | null} kind
 * @property {string} view
 * @property {number | null} step  of the decoding; null: the last
 * @property {"head" | "layer"} lines
 * @property {import("../tiles/tile_order.js").Order} sort  of the tiles
 * @property {number} picture  of a view with several
 * @property {import("../../recording/message/types.js").Options} options
 * @property {VersionName} version
 * @property {boolean} projector
 * @property {string} measure  "weights" or "effects"
 * @property {string | null} pin  as in the address
 * @property {Set<number>} off  heads of a layer whose lines are hidden
 * @property {Record<string, number> | null} chance  how the next word is drawn
 * @property {import("../../recording/pictures/row.js").Switches} switches  what is done differently in a row
 * @property {boolean} [table]
 */

export const OF_HEADS = ["map", "mask"]; // views
const ORDERS = ["layer", "role", "first", "effect"];
const VIEWS = ["map", "mask", "positions", "words", "inside"];

/** @param {Version} told @returns {Map<string, Kind>} */
export const kindsOf = (told) => new Map(told.kinds.map((kind) => [kind.code, kind]));

export class Open {
  /** @type {Message} */ whole;
  /** @type {Uint8Array | null} the message as it came */ bytes = null;
  /** @type {Recordings} */ recordings;
  /** @type {Record<string, string>} */ words;
  /** @type {string} */ language;
  /** @type {import("../../recording/message/types.js").Options} */ mapOptions;
  /** @type {Record<VersionName, Shown>} */ sides;
  /** @type {VersionName[]} that the visitor can choose from */ versions;
  /** @type {VersionName} that is shown unless another is asked for */ usual;
  /** @type {VersionName} */ version;
  /** @type {"weights" | "effects"} */ measure;
  /** @type {Version} that is shown */ told;
  /** @type {Map<string, Kind>} */ kinds;
  /** @type {OpenState} */ state;
  /** @type {Record<string, [number, number] | undefined> | null} the layer and head by kind */ opened = null;
  /** @type {Record<string, any>} what the next visit begins with */ memory;
  /** @type {import("../lines/beside.js").Beside | null} */ beside = null;

  /** @param {Host} host */
  constructor(host) {
    this.host = host;
  }

  /**
   * Shows what the address asks for, else what was open before, else what says most.
   * @param {Record<string, any>} asked
   */
  restore(asked) {
    const step = Number(asked.step ?? -1);
    this.state = {
      kind: this.kinds.has(asked.kind) ? asked.kind : (this.told.kinds[0]?.code ?? null),
      view: this.views().includes(asked.view) ? asked.view : this.usualView(),
      step: !this.beside && step >= 0 && step < this.told.target.tokens.length ? step : null,
      lines: asked.lines === "layer" && !this.beside ? "layer" : "head",
      sort: ORDERS.includes(asked.sort) ? asked.sort : "layer",
      picture: 0,
      options: this.mapOptions,
      version: this.version,
      projector: [true, "1"].includes(asked.projector),
      measure: asked.measure ?? "weights",
      pin: this.pinOf(asked.pin ?? null) ? asked.pin : null,
      off: this.state?.off ?? new Set(),
      chance: sampling.restored(this, asked),
      switches: asked.switches ?? switchesOf(asked),
    };
    /** @type {[number, number]} */
    const wanted = [Number(asked.layer), Number(asked.head)];
    for (const kind of this.kinds.values()) {
      const heads = [kind === this.kind ? wanted : undefined, this.opened?.[kind.code]];
      kind.chosen = heads.map((head) => head && kind.placeOf(head)).find((place) => place && kind.holds(place));
    }
  }

  get kind() {
    return this.kinds?.get(this.state?.kind ?? "") ?? null;
  }

  /** @returns {string[]} */
  views() {
    if (this.measure === "effects") return effects.views(this);
    const [first] = this.kinds.values();
    const sides = this.beside ? [this.sides.before, this.sides.after] : [this];
    /** @type {Record<string, boolean | undefined>} */
    const has = { map: Boolean(first), inside: Boolean(this.host.ask && first?.inside) };
    return VIEWS.filter((view) => has[view] ?? sides.some(({ told }) => told.viewNames.includes(view)));
  }

  usualView() {
    return this.told.next && this.measure !== "effects" ? "words" : this.views()[0];
  }

  /**
   * A pin of the address: s3, t5; of A beside B as3, at5.
   * @returns {Pin | null}
   */
  pinOf(pin = this.state.pin) {
    const [, first, letter, index] = /^(a?)([st])(\d{1,3})$/.exec(pin ?? "") ?? [];
    if (!letter || (first && !this.beside)) return null;
    const of = first ? "before" : "after";
    const side = letter === "s" ? "source" : "target";
    const { tokens } = (this.beside ? this.sides[of] : this).told[side];
    return Number(index) < tokens.length ? { of, token: [side, Number(index)] } : null;
  }

  /** The pinned token, if its tiles are shown. */
  pinned() {
    const pin = this.pinOf();
    return pin && (!this.beside || (pin.of === "before") === (this.version === "before")) ? pin.token : null;
  }

  /** For the next message, for the next visit, and in the address. */
  remember() {
    // Of kinds that nobody has looked at, the first head is not looked for yet.
    const headOf = (/** @type {Kind} */ kind) => {
      const place = kind === this.kind ? kind.open : kind.chosen;
      return place ? kind.headAt(place) : this.opened?.[kind.code];
    };
    this.opened = Object.fromEntries([...this.kinds].map(([name, kind]) => [name, headOf(kind)]));
    if (this.whole.setting) return;
    const { kind, view, step, lines, sort, measure, pin, projector, chance } = this.state;
    const isRow = view === "inside";
    const [layer, head] = this.kind?.headAt(this.kind.open) ?? [];
    const moved = isRow || String(this.kind?.open) !== String(this.kind?.first ?? "");
    const chosen = {
      step,
      pin,
      lines: lines === "head" ? null : lines,
      sort: sort === "layer" ? null : sort,
      version: this.version === this.usual ? null : this.version,
      measure: measure === "effects" ? measure : null,
      ...sampling.parameters(this),
      ...codesOf(this.mapOptions),
    };
    Object.assign(this.memory, { kind, layer, head, view, ...chosen, chance });
    this.host.write({
      ...(measure !== "effects" && { against: null }),
      ...inside.parameters(this),
      ...chosen,
      kind: kind === this.told.kinds[0]?.code && !isRow ? null : kind,
      layer: moved ? layer : null,
      head: moved ? head : null,
      view: view === this.usualView() ? null : view,
      projector: projector ? 1 : null,
    });
  }
}
