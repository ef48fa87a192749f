// The stage: one translation, all its heads, one of them large. A host brings messages.

import { rowNaming } from "../../recording/maps/axes.js";
import { codesOf, readOptions } from "../../recording/message/options.js";
import { fill } from "../../recording/text/sentences.js";
import { writingLater } from "./address.js";
import { present, update } from "./arrival.js";
import { dress, el, setChildren } from "../frame/dom.js";
import { circuit } from "../circuit/circuit.js";
import { effects } from "../map/effects.js";
import { Elements } from "../frame/elements.js";
import { fillIn, legend } from "../frame/frame.js";
import { readMessage } from "./message.js";
import { isDark } from "../frame/page_colours.js";
import { draw } from "../map/picture.js";
import { Pointing } from "../lines/pointing.js";
import { Projector } from "../frame/projector.js";
import { sampling } from "../changes/sampling.js";
import { OF_HEADS, OF_ROWS } from "./view_names.js";
import { leaveOther, rowView } from "../map/row_views.js";
import { nothing } from "../map/why_state.js";
import { card } from "../lines/telling.js";
import { catalogueOf, fetchCatalogue } from "./words.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/message/version.js").Version} Version */
/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("./message.js").Recordings} Recordings */
/** @typedef {import("./state.js").OpenState} OpenState */

const QUIET = 560; // pixels of width below which only a word pointed at has lines

export class Stage extends Elements {
  /** Whether only a word that is pointed at has lines. */
  narrow = false;
  /** @type {number | undefined} pixels above the stage */ above;
  /** @type {string} language and forms of what is built */ languageKey = "";
  /** @type {Uint8Array | null} the last message, packed */ newest = null;
  /** @type {string} of both lines */ tokens = "";
  /** What was asked of the host last. */
  requested = "";
  size = "";
  waiting = 0;
  /** Whether the page is dark. */
  isDark = false;

  /** @param {import("./message.js").Host} host */
  constructor(host) {
    super(writingLater(host));
    this.root = el("div.stage", { tabindex: "-1", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    new ResizeObserver(() => this.onResize()).observe(this.root);
    addEventListener("resize", () => this.onResize());
    this.projector = new Projector(this);
    this.pointing = new Pointing(this);
  }

  /** Shows a packed message, as soon as its sentences are here. @param {Uint8Array} bytes */
  async show(bytes) {
    this.newest = bytes;
    const { message, recordings } = readMessage(bytes, this.host);
    if (!catalogueOf(message.words)) await fetchCatalogue(message.words.address ?? "", this.host.part);
    if (this.newest === bytes) await this.present(message, recordings, bytes);
  }

  /**
   * Shows a message whose recordings are read.
   * @param {Message} message
   * @param {Recordings} recordings
   * @param {Uint8Array | null} bytes  the message packed, where there is one
   */
  present(message, recordings, bytes = null) {
    return present(this, message, recordings, bytes);
  }

  /** @type {import("../../recording/message/types.js").Say} */
  say = (name, values = {}) => fill(this.words[name], values, this.language);

  fillIn() {
    this.pointing.point = null; // the word that had the focus is replaced
    fillIn(this);
    this.renderKind();
    return this.render();
  }

  renderKind() {
    const { kind, state } = this;
    setChildren(this.places.measures, effects.measures(this));
    dress(this.root, { none: !kind });
    for (const part of Object.values(this.parts)) {
      const { result, kinds } = this.beside ? this.sides[part.version] : this;
      Object.assign(part, { result, kind: kinds.get(state.kind ?? "") ?? null });
      part.lines?.build(result, part.kind);
    }
    if (kind) this.tiles.build(kind);
  }

  /** Draws everything again on a page that has become dark, or light. */
  repaint() {
    if (!this.result) return undefined;
    this.isDark = isDark(this.root);
    this.renderKind();
    return this.render();
  }

  /** Changes what is open, and draws it. @param {Partial<OpenState>} change */
  choose(change, focus = false) {
    const before = { ...this.state };
    Object.assign(this.state, change);
    const { kind, sort, board, pin } = this.state;
    const isOtherKind = kind !== before.kind;
    if (isOtherKind && !change.why) this.state.why = nothing();
    leaveOther(this);
    const isSortedByWord = this.tiles.order === "effect" && pin !== before.pin;
    const isOtherOrder = sort !== before.sort || board !== before.board || isSortedByWord;
    if (isOtherKind) Object.assign(this.pointing, { partner: null, point: null });
    if (isOtherKind || isOtherOrder) this.renderKind();
    this.remember();
    return this.render(focus);
  }

  /** Changes what is open where the numbers change with it. @param {Partial<OpenState>} change */
  async turn(change) {
    Object.assign(this.state, change);
    if (!(await update(this))) return;
    this.remember();
    await this.fillIn();
  }

  /** Opens what the address says, after Back or Forward. */
  async revisit() {
    const { message, host } = this;
    const request = host.read();
    const isOther = Object.entries(message.address).some(([name, value]) => (request[name] ?? null) !== (value ?? null));
    if (isOther) return location.reload(); // another text or model, which the server has to bring
    Object.assign(this, { state: null, openHeads: null });
    for (const name of Object.keys(this.memory)) delete this.memory[name];
    if (!(await update(this))) return undefined;
    this.remember();
    return this.fillIn();
  }

  /** Draws the maps with other choices, given by their codes in an address. @param {import("./message.js").Parameters} codes */
  turnMaps(codes) {
    const { kind, result, mapOptions } = this;
    const isRule = kind && codes.rows === rowNaming(result.recording, kind.code, "");
    return this.turn({ options: readOptions({ ...codesOf(mapOptions), ...codes, ...(isRule && { rows: null }) }) });
  }

  /** Opens a head. @param {import("../../recording/maps/drawing.js").Place} place */
  open(place, focus = false) {
    if (this.kind) this.kind.open = place;
    this.state.seeks = false;
    const shows = [...OF_HEADS, ...OF_ROWS, "circuit"].includes(this.state.view);
    const { cell } = this.state.why;
    const asked = { ...nothing(), cell: cell && { ...cell, key: null } }; // a way leads from link to link
    this.choose({ ...(!shows && { view: "map" }), why: asked }, focus);
  }

  /** @param {KeyboardEvent} event */
  key({ key, target, altKey, ctrlKey, metaKey }) {
    const isField = /** @type {Element} */ (target).closest("input, select, textarea, .hl-panel");
    if (isField || altKey || ctrlKey || metaKey) return;
    const kind = [...this.kinds.keys()][Number(key) - 1];
    if (kind) this.choose({ kind });
    else if (key === "Escape" && this.state.pin && !this.state.projector) {
      this.choose({ pin: null });
      this.steering?.wordMenu.ask(null);
    }
  }

  /** Shows the decoding up to a step; the last one is the same as null, all of it. @param {number} step */
  step(step) {
    this.state.step = step === this.film.count - 1 && !this.film.playing ? null : step;
    this.remember();
    this.render();
  }

  async render(focus = false) {
    const { kind, state, part } = this;
    this.projector.light(state.projector);
    this.film.render();
    this.fold.render();
    for (const [name, bar] of Object.entries(this.tabs)) bar.mark(String(state[/** @type {keyof OpenState} */ (name)]));
    this.renderTitle();
    legend(this);
    this.describe();
    const parts = [part, ...(this.beside?.render() ?? [])];
    this.pointing.light();
    this.tiles.fill();
    if (kind) this.tiles.select(kind.open, focus); // asks where things stand, so all else is changed before
    await Promise.all(parts.map((target) => draw(this, target)));
  }

  /** What stands above the large picture. */
  renderTitle() {
    const { kind } = this;
    const title = kind ? [...kind.names(), kind.role()].filter(Boolean).join(" · ") : this.say("no_attention");
    this.circuitBox.render();
    const asked = effects.title(this) ?? sampling.title(this) ?? rowView(this)?.heading(this) ?? circuit.heading(this);
    setChildren(this.title, asked ?? title);
    this.whyBox.render();
    this.steering?.render();
  }

  /** Draws what waited for the numbers of the large picture: itself, and what stands around it. */
  renderPicture() {
    this.renderTitle();
    this.pointing.frame();
    return draw(this, this.part);
  }

  onResize() {
    const width = this.root.clientWidth;
    const top = this.message?.setting ? Math.round(Math.max(0, this.root.getBoundingClientRect().top)) : "";
    const size = `${width} ${innerHeight} ${top}`;
    if (size === this.size || !this.result || !width) return;
    Object.assign(this, { size, narrow: width < QUIET });
    for (const { lines } of Object.values(this.parts)) if (lines) lines.spots = null;
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.render());
  }

  /** Fills the card, of a head that is pointed at or of the opened one. @param {[number, number] | null} place */
  describe(place = null) {
    const parts = card(this, place);
    // A button that is replaced while it is pressed is never clicked.
    const old = this.card.children;
    const same = parts.length === old.length && parts.every((part, i) => part.isEqualNode(old[i]));
    if (!same) setChildren(this.card, parts);
  }
}
