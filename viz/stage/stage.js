// The stage: one translation, all its heads, one of them large. A host brings messages.

import { codesOf, readOptions } from "../recording/options.js";
import { fill } from "../recording/sentences.js";
import { dress, el, put } from "./dom.js";
import { effects } from "./effects.js";
import { build, fillIn, legend } from "./frame.js";
import { readMessage } from "./message.js";
import { draw } from "./picture.js";
import { Pointing } from "./pointing.js";
import { Projector } from "./projector.js";
import { sampling } from "./sampling.js";
import { OF_HEADS, Open, kindsOf } from "./state.js";
import { card } from "./telling.js";
import { versionsOf } from "./versions.js";
import { catalogueOf, fetchCatalogue, sentencesOf } from "./words.js";

/** @typedef {import("../recording/kind.js").Kind} Kind */
/** @typedef {import("../recording/version.js").Version} Version */
/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("./message.js").Recordings} Recordings */
/** @typedef {import("./state.js").OpenState} OpenState */

/**
 * Where one version stands: its tokens, its large map; beside another also its title and what it lacks.
 * @typedef {object} Part
 * @property {import("./state.js").VersionName} version
 * @property {Version} told
 * @property {Kind | null} kind
 * @property {import("./lines.js").Lines | null} lines
 * @property {import("./map.js").LargeMap} map
 * @property {object} [ticket]  of what is drawn
 * @property {HTMLElement} title
 * @property {HTMLElement} says
 * @property {HTMLElement} slot
 */

const QUIET = 560; // pixels of width below which only a word pointed at has lines

export class Stage extends Open {
  /** @type {Partial<Record<import("./state.js").VersionName, Part>>} */ parts = {};
  /** @type {Record<string, import("./widgets.js").Tabs>} */ tabs = {};
  /** @type {Record<"kinds" | "views" | "measures" | "versions", HTMLElement>} */ places;
  /** @type {HTMLElement} */ translation;
  /** @type {HTMLElement} */ notes;
  /** @type {HTMLElement} */ writing;
  /** @type {HTMLElement} */ card;
  /** @type {HTMLElement} */ title;
  /** @type {HTMLElement} */ says;
  /** @type {HTMLElement} */ legend;
  /** @type {HTMLElement & {of?: unknown}} */ switches;
  /** @type {HTMLElement | null} of several pictures of a view */ choice = null;
  /** @type {import("./film.js").Film} */ film;
  /** @type {import("./tiles.js").Tiles} */ tiles;
  /** @type {import("./widgets.js").Menu} */ options;
  /** @type {import("./steer.js").Steering | null} */ steering = null;
  /** Whether only a word that is pointed at has lines. */
  narrow = false;
  /** @type {number | undefined} pixels above the stage */ above;
  /** @type {string} language and forms of what is built */ spoken = "";
  /** @type {Uint8Array | null} the last message that came */ newest = null;
  /** @type {string} of both lines */ tokens = "";
  /** What was asked of the host last. */
  requested = "";
  size = "";
  waiting = 0;

  /** @param {import("./message.js").Host} host */
  constructor(host) {
    super(host);
    this.root = el("div.stage", { tabindex: "-1", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    new ResizeObserver(() => this.resized()).observe(this.root);
    addEventListener("resize", () => this.resized());
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
   * @param {Message} whole
   * @param {Recordings} recordings
   * @param {Uint8Array | null} bytes  the message packed, where there is one
   */
  async present(whole, recordings, bytes = null) {
    if (this.whole && whole.stamp === this.whole.stamp) return;
    const another = Boolean(this.whole);
    const { setting, language, after } = whole;
    const spoken = [language, ...whole.words.forms].join(" ");
    const words = spoken === this.spoken ? this.words : sentencesOf(whole.words);
    const memory = (this.host.memories[String(Boolean(after.next))] ??= {});
    Object.assign(this, { whole, bytes, memory, words, language, recordings });
    if (setting) Object.assign(this, { state: null, opened: null });
    dress(this.root, { set: setting, board: setting && whole.steering });
    if (!(await this.take()) || whole !== this.whole) return;
    if (!setting && this.host.ask) this.host.write(whole.address);
    this.remember();
    this.fillIn().then(() => {
      this.root.dataset.ready = String(Number(this.root.dataset.ready ?? 0) + 1);
      // Who has gone back to the weights waits for effects once only.
      const isLeft = recordings.after.kinds.some((kind) => kind.effects) && this.state.measure !== "effects";
      if (another && isLeft) this.host.ask?.({ measure: null });
    });
  }

  /** Takes up what the address, or the visitor, chooses of the message; says whether it could. */
  async take() {
    const { whole } = this;
    const { comparing } = whole;
    const asked = this.state ?? whole.setting ?? { ...this.memory, ...this.host.read() };
    this.mapOptions = asked.options ?? readOptions(asked);
    const sides = (this.sides = versionsOf(this, this.mapOptions));
    const names = /** @type {(keyof typeof sides)[]} */ (whole.before ? Object.keys(sides) : ["after"]);
    this.versions = comparing ? names.filter((version) => sides[version].kinds.size) : names;
    this.usual = (comparing && this.versions.at(-1)) || "after";
    this.version = this.versions.includes(asked.version) ? asked.version : this.usual;
    const { told, kinds } = sides[this.version];
    [this.measure, this.told] = comparing ? ["weights", told] : effects.applied(this, told, asked.measure);
    this.kinds = this.told === told ? kinds : kindsOf(this.told);
    const all = comparing ? Object.values(sides).flatMap((side) => [...side.kinds.values()]) : [...this.kinds.values()];
    if (all.some((kind) => kind.waits) && !(await this.prepare(all))) return false;
    const lines = comparing ? [sides.after.told, sides.before.told] : [told];
    const tokens = JSON.stringify(lines.map(({ source, target }) => [source.tokens, target.tokens]));
    if (this.tokens !== tokens) {
      if (this.state && this.tokens) Object.assign(this.state, { pin: null, step: null });
      this.tokens = tokens;
      this.pointing.partner = null;
    }
    const spoken = [whole.language, ...whole.words.forms].join(" ");
    if (spoken !== this.spoken) build(this);
    this.spoken = spoken;
    this.restore(asked);
    return true;
  }

  /** Gets all weights of kinds, which the visitor's choices need; says whether it could. @param {Kind[]} kinds */
  async prepare(kinds) {
    if (this.says) this.says.textContent = this.say("loading");
    try {
      await Promise.all(kinds.map((kind) => kind.prepare()));
      return true;
    } catch {
      if (this.says) this.says.textContent = this.say("failed");
      return false;
    }
  }

  /** @type {import("../recording/types.js").Say} */
  say = (name, values = {}) => fill(this.words[name], values, this.language);

  /** The version that is shown, or that the others stand beside. @returns {Part} */
  get part() {
    return this.parts[this.version] ?? /** @type {Part} */ (this.parts.after);
  }

  /** @returns {import("./lines.js").Lines} */
  get lines() {
    return this.part.lines ?? /** @type {import("./lines.js").Lines} */ (this.parts.after?.lines);
  }

  get map() {
    return this.part.map;
  }

  fillIn() {
    this.pointing.point = null; // the word that had the focus is replaced
    fillIn(this);
    this.renderKind();
    return this.render();
  }

  renderKind() {
    const { kind, state } = this;
    put(this.places.measures, effects.measures(this));
    dress(this.root, { none: !kind });
    for (const part of Object.values(this.parts)) {
      const { told, kinds } = this.beside ? this.sides[part.version] : this;
      Object.assign(part, { told, kind: kinds.get(state.kind ?? "") ?? null });
      part.lines?.build(told, part.kind);
    }
    if (kind) this.tiles.build(kind);
  }

  /** @param {Partial<OpenState>} change */
  choose(change, focus = false) {
    const before = this.state.kind;
    Object.assign(this.state, change);
    if (this.state.kind !== before) {
      Object.assign(this.pointing, { partner: null, point: null });
      this.renderKind();
    }
    this.remember();
    return this.render(focus);
  }

  /** Chooses what changes the numbers, too. @param {Partial<OpenState>} change */
  async turn(change) {
    Object.assign(this.state, change);
    if (!(await this.take())) return;
    this.remember();
    await this.fillIn();
  }

  /** Draws the maps with other choices, given by their codes in an address. @param {Record<string, any>} chosen */
  turnMaps(chosen) {
    return this.turn({ options: readOptions({ ...codesOf(this.mapOptions), ...chosen }) });
  }

  /** Opens a head. @param {number} layer @param {number} head */
  open(layer, head, focus = false) {
    if (this.kind) this.kind.open = [layer, head];
    this.choose(OF_HEADS.includes(this.state.view) ? {} : { view: "map" }, focus);
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

  /** The last step shows all, as null does. @param {number} step */
  step(step) {
    this.state.step = step === this.film.count - 1 && !this.film.playing ? null : step;
    this.remember();
    this.render();
  }

  async render(focus = false) {
    const { kind, state, part } = this;
    this.projector.light(state.projector);
    this.film.render();
    for (const [name, bar] of Object.entries(this.tabs)) bar.mark(String(state[/** @type {keyof OpenState} */ (name)]));
    if (kind) this.tiles.select(...kind.open, focus);
    const title = kind ? [...kind.names(), kind.role()].filter(Boolean).join(" · ") : this.say("no_attention");
    this.title.textContent = effects.title(this) ?? sampling.title(this) ?? title;
    legend(this);
    this.steering?.render();
    this.describe();
    const others = this.beside?.render() ?? [];
    for (const { lines } of Object.values(this.parts)) if (lines) lines.spots = null;
    this.pointing.light();
    await Promise.all([part, ...others].map((shown) => draw(this, shown)));
  }

  resized() {
    const width = this.root.clientWidth;
    const size = `${width} ${innerHeight}`;
    if (size === this.size || !this.told || !width) return;
    Object.assign(this, { size, narrow: width < QUIET });
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.render());
  }

  /** Fills the card, of a head that is pointed at or of the opened one. @param {[number, number] | null} place */
  describe(place = null) {
    const parts = card(this, place);
    // A button that is replaced while it is pressed is never clicked.
    const old = this.card.children;
    const same = parts.length === old.length && parts.every((part, i) => part.isEqualNode(old[i]));
    if (!same) put(this.card, parts);
  }
}
