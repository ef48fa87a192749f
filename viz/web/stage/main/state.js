// What is open, and how the address and the visitor's next page know of it.

import { codesOf } from "../../recording/message/options.js";
import { Effects } from "../../recording/pictures/effects.js";
import { switchesOf } from "../../recording/pictures/row.js";
import { effects } from "../map/effects.js";
import { circuit } from "../circuit/circuit.js";
import { inside } from "../map/inside.js";
import { leaveOther, parameters as parametersOfRow } from "../map/row_views.js";
import { restore as restoreWhy } from "../map/why_state.js";
import { sampling } from "../changes/sampling.js";
import { OF_ROWS, VIEWS } from "./view_names.js";
import { rowOfWord } from "../tiles/measures.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/message/types.js").Side} Side */
/** @typedef {import("../../recording/message/version.js").Version} Version */
/** @typedef {import("./message.js").Host} Host */
/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("./message.js").Recordings} Recordings */

/** @typedef {"after" | "before" | "difference"} VersionName */
/** @typedef {{result: Version, kinds: Map<string, Kind>}} VersionEntry  a recording as it is shown, its kinds by code */
/** @typedef {[Side, number]} Token  a token by its side and its place there */
/** @typedef {{of: VersionName, token: Token}} Pin */

/**
 * What is open.
 * @typedef {object} OpenState
 * @property {string | null} kind
 * @property {string} view
 * @property {number | null} step  of the decoding; null: the last
 * @property {"head" | "layer"} lines
 * @property {import("../tiles/tile_order.js").Order | null} sort  of the tiles; null: not chosen
 * @property {string | null} board  the measure of the board that stands in the place of tiles, or "none"; null: not chosen
 * @property {boolean} seeks  whether the head with the strongest effect is to be opened once effects are here
 * @property {number} picture  of a view with several
 * @property {import("../../recording/message/types.js").Options} options
 * @property {VersionName} version
 * @property {boolean} projector
 * @property {string} measure  "weights" or "effects"
 * @property {string | null} pin  as in the address
 * @property {Set<number>} off  heads of a layer whose lines are hidden
 * @property {Record<string, number> | null} chance  how the next word is drawn
 * @property {import("../../recording/pictures/row.js").Switches} switches  what is done differently in a row
 * @property {import("../map/why_state.js").WhyState} why  what is open of the views "why" and "writes"
 * @property {import("../circuit/state.js").CircuitState} circuit  what is open of the view "circuit"
 * @property {boolean} [table]
 */

const ORDERS = ["layer", "role", "first", "effect"];
const BOARDS = ["none", "importance", "effect", "first", "entropy", "largest"];

/** @param {Version} result @returns {Map<string, Kind>} */
export const kindsOf = (result) => new Map(result.kinds.map((kind) => [kind.code, kind]));

export class Open {
  /** @type {Message} */ message;
  /** @type {Uint8Array | null} the message as it came */ bytes = null;
  /** @type {Recordings} */ recordings;
  /** @type {Record<string, string>} */ words;
  /** @type {string} */ language;
  /** @type {import("../../recording/message/types.js").Options} */ mapOptions;
  /** @type {Record<VersionName, VersionEntry>} */ sides;
  /** @type {VersionName[]} that the visitor can choose from */ versions;
  /** @type {VersionName} */ defaultVersion;
  /** @type {VersionName} */ version;
  /** @type {"weights" | "effects"} */ measure;
  /** @type {Version} the recording that is shown */ result;
  /** @type {Map<string, Kind>} */ kinds;
  /** @type {OpenState} */ state;
  /** @type {Record<string, [number, number] | undefined> | null} the layer and head by kind */ openHeads = null;
  /** @type {import("./message.js").Parameters} what the next visit begins with */ memory;
  /** @type {import("../lines/beside.js").Beside | null} */ beside = null;
  /** @type {Record<string, any> | null} the parameters of what was open last */ written = null;

  /** @param {ReturnType<typeof import("./address.js").writingLater>} host */
  constructor(host) {
    this.host = host;
  }

  /**
   * Opens what the address asks for, else what was open before, else the head that says most.
   * @param {import("./message.js").Parameters} request
   */
  restore(request) {
    const step = Number(request.step ?? -1);
    this.state = {
      kind: this.kinds.has(request.kind) ? request.kind : (this.result.kinds[0]?.code ?? null),
      view: this.viewOf(request.view),
      step: !this.beside && step >= 0 && step < this.result.target.tokens.length ? step : null,
      lines: request.lines === "layer" && !this.beside ? "layer" : "head",
      sort: ORDERS.includes(request.sort) ? request.sort : null,
      board: this.boardOf(request.board),
      seeks: request.seeks ?? (request.measure === "effects" && (request.layer ?? null) === null),
      picture: 0,
      options: this.mapOptions,
      version: this.version,
      projector: [true, "1"].includes(request.projector),
      measure: request.measure ?? "weights",
      pin: this.pinOf(request.pin ?? null) ? request.pin : null,
      off: this.state?.off ?? new Set(),
      chance: sampling.restore(this, request),
      switches: request.switches ?? switchesOf(request),
      why: restoreWhy(this, request),
      circuit: circuit.restore(request),
    };
    /** @type {[number, number]} */
    const requestedHead = [Number(request.layer), Number(request.head)];
    for (const kind of this.kinds.values()) {
      const heads = [kind === this.kind ? requestedHead : undefined, this.openHeads?.[kind.code]];
      kind.selection = heads.map((head) => head && kind.placeOf(head)).find((place) => place && kind.holds(place));
    }
    if (this.state.seeks) this.openStrongest();
    leaveOther(this);
  }

  /** Opens of many heads those with the strongest effect, once effects are here. */
  openStrongest() {
    for (const kind of this.kinds.values()) {
      if (!(kind instanceof Effects)) continue;
      this.state.seeks = false;
      if (kind.hasManyHeads) kind.selection = kind.strongest(rowOfWord(this, kind)) ?? undefined;
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
    const has = {
      map: Boolean(first),
      inside: Boolean(this.host.ask && first?.inside),
      why: this.hasWhy,
      writes: this.hasWrites,
      circuit: circuit.isThere(this),
    };
    return VIEWS.filter((view) => has[view] ?? sides.some(({ result }) => result.viewNames.includes(view)));
  }

  /** Whether the host splits scores, or the message has those of a row. */
  get hasWhy() {
    const [first] = this.kinds.values();
    const { splits, why } = this.result.payload;
    return Boolean(first?.plain && !first.signed && (this.host.ask ? splits : why && "pairs" in why));
  }

  /** Whether the host says what heads write, or the message has it of a head. */
  get hasWrites() {
    const [first] = this.kinds.values();
    const { splits, predicts, writes } = this.result.payload;
    return Boolean(first?.plain && !first.signed && (this.host.ask ? splits && predicts : writes && "cells" in writes));
  }

  /** The view that is asked for, else the map of the head that was looked into, else the first. @param {string} asked */
  viewOf(asked) {
    const views = this.views();
    if (views.includes(asked)) return asked;
    return OF_ROWS.includes(asked) && views.includes("map") ? "map" : this.defaultView();
  }

  defaultView() {
    return this.result.next && this.measure !== "effects" ? "words" : this.views()[0];
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
    const { tokens } = (this.beside ? this.sides[of] : this).result[side];
    return Number(index) < tokens.length ? { of, token: [side, Number(index)] } : null;
  }

  /** The pinned token, if its tiles are shown. */
  pinnedToken() {
    const pin = this.pinOf();
    return pin && (!this.beside || (pin.of === "before") === (this.version === "before")) ? pin.token : null;
  }

  /**
   * The measure of the board that an address asks for; importance only where it was measured, so that no address names
   * another measure than the one that is shown.
   * @param {string | null | undefined} code
   */
  boardOf(code) {
    const isThere = code !== "importance" || this.message.steering?.importance;
    return code && BOARDS.includes(code) && isThere ? code : null;
  }

  /** Keeps what is open for the next message and the next visit, and writes it into the address. */
  remember() {
    // `kind.open` computes which head to open first: not for kinds that nobody has looked at.
    const headOf = (/** @type {Kind} */ kind) => {
      const place = kind === this.kind ? kind.open : kind.selection;
      return place ? kind.headAt(place) : this.openHeads?.[kind.code];
    };
    this.openHeads = Object.fromEntries([...this.kinds].map(([name, kind]) => [name, headOf(kind)]));
    if (this.message.setting) return;
    const { kind, view, step, lines, sort, board, measure, pin, projector, chance } = this.state;
    const isRow = OF_ROWS.includes(view);
    const [layer, head] = this.kind?.headAt(this.kind.open) ?? [];
    const hasHead = isRow || String(this.kind?.open) !== String(this.kind?.first ?? "");
    const parameters = {
      step,
      pin,
      lines: lines === "head" ? null : lines,
      sort,
      board,
      version: this.version === this.defaultVersion ? null : this.version,
      measure: measure === "effects" ? measure : null,
      ...sampling.parameters(this),
      ...codesOf(this.mapOptions),
    };
    Object.assign(this.memory, { kind, layer, head, view, ...parameters, chance });
    this.writeOpen({
      ...(measure !== "effects" && { against: null }),
      ...inside.parameters(this),
      ...parametersOfRow(this),
      ...circuit.parameters(this),
      ...parameters,
      kind: kind === this.result.kinds[0]?.code && !isRow ? null : kind,
      layer: hasHead ? layer : null,
      head: hasHead ? head : null,
      view: view === this.defaultView() ? null : view,
      projector: projector ? 1 : null,
    });
  }

  /**
   * Writes what is open into the address; while a sentence stands in for another only what the visitor chooses, as all
   * else in the address is about the other one.
   * @param {Record<string, any>} parameters
   */
  writeOpen(parameters) {
    const before = this.written;
    this.written = parameters;
    if (!this.message.standIn) return void this.host.write(parameters);
    const changes = Object.entries(parameters).filter(([name, value]) => before && before[name] !== value);
    if (changes.length) this.host.write(Object.fromEntries(changes));
  }
}
