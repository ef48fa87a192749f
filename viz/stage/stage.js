// The stage: one translation, all its heads, one of them large. A host brings messages.
// @ts-nocheck

import { isChanged } from "../recording/maps.js";
import { codesOf, readOptions } from "../recording/options.js";
import { unpack } from "../recording/packed.js";
import { recordingOf } from "../recording/reading.js";
import { fill } from "../recording/sentences.js";
import { Version, differenceOf } from "../recording/version.js";
import { dress, el, put } from "./dom.js";
import { effects } from "./effects.js";
import { build, fillIn, legend } from "./frame.js";
import { headColour } from "./lines.js";
import { draw } from "./picture.js";
import { Projector } from "./projector.js";
import { sampling } from "./sampling.js";
import { Open } from "./state.js";
import { card, line } from "./telling.js";

const QUIET = 560; // pixels of width below which only a word pointed at has lines
const OF_HEADS = ["map", "mask"];

/** The lit row, or else the column; both of a cell that is pointed at. */
const cross = ({ row, column, both }) => [row, row >= 0 && !both ? -1 : column];

export class Stage extends Open {
  /**
   * `host` has plotly() and part(address), which promise Plotly and maps that did not travel with the message, read()
   * and write(parameters) for the address, and memories. In the app also ask(parameters) for another message,
   * act(action) for a change, and shell(), which promises the page that the stage is kept as.
   */
  constructor(host) {
    super();
    const root = el("div.stage", { tabindex: "-1", onkeydown: (event) => this.key(event) });
    Object.assign(this, { root, host, state: null, point: null });
    new ResizeObserver(() => this.resized()).observe(root);
    addEventListener("resize", () => this.resized());
    this.projector = new Projector(this);
  }

  show(bytes) {
    const whole = unpack(bytes);
    const read = (told) => told && recordingOf(told.recording, this.host.part);
    return this.present(whole, { after: read(whole.after), before: read(whole.before) }, bytes);
  }

  /** Shows a message whose recordings are read; `bytes`: the message packed, where there is one. */
  async present(whole, recordings, bytes = null) {
    if (whole.stamp === this.whole?.stamp) return;
    const another = Boolean(this.whole);
    const { setting, words, language, after } = whole;
    const memory = (this.host.memories[Boolean(after.next)] ??= {});
    Object.assign(this, { whole, bytes, memory, words, language, recordings });
    if (setting) this.state = this.opened = null;
    dress(this.root, { set: setting, board: setting && whole.steering });
    if (!(await this.take()) || whole !== this.whole) return;
    if (!setting && this.host.ask) this.host.write(whole.address);
    this.remember();
    this.fillIn().then(() => {
      this.root.dataset.ready = Number(this.root.dataset.ready ?? 0) + 1;
      // Who has gone back to the weights waits for effects once only.
      if (another && this.recordings.after.kinds.some((kind) => kind.effects) && this.state.measure !== "effects") this.host.ask?.({ measure: null });
    });
  }

  /** The recordings with the visitor's choices, and what differs between them. */
  versionsOf(options) {
    const { whole, recordings, language } = this;
    const host = { part: this.host.part, speech: { language, say: (name, values) => this.say(name, values) } };
    const version = (name) => new Version(whole[name], options, host, recordings[name]);
    const after = version("after");
    const before = whole.before ? version("before") : after;
    const difference = whole.before ? differenceOf(before, after, Boolean(whole.comparing)) : after;
    difference.difference = whole.comparing?.program ?? null;
    const sides = { before, after, difference };
    return Object.fromEntries(Object.entries(sides).map(([name, told]) => [name, { told, kinds: this.ofKinds(told) }]));
  }

  /** Takes up what the address, or the visitor, chooses of the message; says whether it could. */
  async take() {
    const { whole } = this;
    const { comparing } = whole;
    const asked = this.state ?? whole.setting ?? { ...this.memory, ...this.host.read() };
    this.mapOptions = asked.options ?? readOptions(asked);
    const sides = (this.sides = this.versionsOf(this.mapOptions));
    this.versions = whole.before ? Object.keys(sides) : ["after"];
    if (comparing) this.versions = this.versions.filter((version) => sides[version].kinds.size);
    this.usual = (comparing && this.versions.at(-1)) || "after";
    this.version = this.versions.includes(asked.version) ? asked.version : this.usual;
    const { told, kinds } = sides[this.version];
    [this.measure, this.told] = comparing ? ["weights", told] : effects.applied(this, told, asked.measure);
    this.kinds = this.told === told ? kinds : this.ofKinds(this.told);
    const waiting = [...(comparing ? Object.values(sides).flatMap((side) => [...side.kinds.values()]) : this.kinds.values())];
    if (waiting.some((kind) => kind.waits) && !(await this.prepare(waiting))) return false;
    const lines = comparing ? [sides.after.told, sides.before.told] : [told];
    const tokens = JSON.stringify(lines.map(({ source, target }) => [source.tokens, target.tokens]));
    if (this.tokens !== tokens) {
      if (this.state && this.tokens) Object.assign(this.state, { pin: null, step: null });
      Object.assign(this, { tokens, partner: null });
    }
    const words = JSON.stringify(this.words);
    if (words !== this.spoken) build(this);
    this.spoken = words;
    this.restore(asked);
    return true;
  }

  /** Gets all weights of kinds, which the visitor's choices need; says whether it could. */
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

  say(name, values = {}) {
    return fill(this.words[name], values, this.language);
  }

  get part() {
    return this.parts[this.version] ?? this.parts.after;
  }

  get lines() {
    return this.part.lines ?? this.parts.after.lines;
  }

  get map() {
    return this.part.map;
  }

  fillIn() {
    this.point = null; // the word that had the focus is replaced
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
      Object.assign(part, { told, kind: kinds.get(state.kind) ?? null });
      part.lines?.build(told, part.kind);
    }
    if (kind) this.tiles.build(kind);
  }

  choose(change, focus = false) {
    const before = this.state.kind;
    Object.assign(this.state, change);
    if (this.state.kind !== before) {
      Object.assign(this, { partner: null, point: null });
      this.renderKind();
    }
    this.remember();
    return this.render(focus);
  }

  async turn(change) {
    Object.assign(this.state, change);
    if (!(await this.take())) return;
    this.remember();
    await this.fillIn();
  }

  /** Draws the maps with other choices, given by their codes in an address. */
  turnMaps(chosen) {
    const options = readOptions({ ...codesOf(this.mapOptions), ...chosen });
    const remotes = Object.values(this.recordings).flatMap((recording) => recording?.kinds ?? []);
    if (isChanged(options) && remotes.some(({ weights, remote }) => !weights && remote && !remote.canBeWhole)) {
      this.options.renew();
      this.says.textContent = this.say("too_many");
      return null;
    }
    return this.turn({ options });
  }

  open(layer, head, focus = false) {
    this.kind.open = [layer, head];
    this.choose(OF_HEADS.includes(this.state.view) ? {} : { view: "map" }, focus);
  }

  pin(side, index, version) {
    if (index < 0) return;
    const pin = `${this.beside && version === "before" ? "a" : ""}${side[0]}${index}`;
    this.partner = null;
    this.choose({ pin: this.state.pin === pin ? null : pin });
  }

  clicked(row, column, version) {
    const { view } = this.state;
    const { kind } = this.parts[version];
    if (this.steering?.cell(row, column)) return;
    if (["words", "lens", "left-out"].includes(view)) return this.pin("target", row, version); // whose rows are steps
    const side = kind?.steps ? "target" : "source";
    if (OF_HEADS.includes(view)) this.pin(side, kind[side].row.indexOf(row), version);
  }

  pointed(point) {
    this.point = point;
    // The card goes on speaking of it beside the pinned word.
    if (point?.token && this.state.pin) this.partner = point.token;
    this.light();
  }

  key({ key, target, altKey, ctrlKey, metaKey }) {
    if (target.closest("input, select, textarea, .hl-panel") || altKey || ctrlKey || metaKey) return;
    const kind = [...this.kinds.keys()][Number(key) - 1];
    if (kind) this.choose({ kind });
    else if (key === "Escape" && this.state.pin && !this.state.projector) {
      this.choose({ pin: null });
      this.steering?.ask(null);
    }
  }

  /** The last step shows all, as null does. */
  step(step) {
    this.state.step = step === this.film.count - 1 && !this.film.playing ? null : step;
    this.remember();
    this.render();
  }

  filmed() {
    const { step } = this.state;
    return step === null ? null : { of: "after", token: ["target", step] };
  }

  /** What is pointed at, played or pinned, or its partners in a part. */
  lit(part) {
    const from = this.point ?? this.filmed() ?? this.pinOf();
    const own = from && this.parts[from.of];
    if (!own?.kind) return { row: -1, column: -1 };
    const { token } = from;
    const there = token ? { ...own.lines.of(...token), token } : { ...from, both: true };
    return this.beside?.partner(own, part, there) ?? there;
  }

  light() {
    const { kind, tiles, state, says } = this;
    const pin = this.pinOf();
    for (const part of Object.values(this.parts)) {
      const { lines, version } = part;
      const lit = this.lit(part);
      lines?.light(lit, pin?.of === version ? pin.token : null, state.step);
      lines?.draw(this.linesOf(part.kind), lit, state.step, this.narrow);
      part.map.light(...this.framed(lit));
    }
    if (!kind) return;
    const lit = this.lit(this.part);
    tiles.light(...cross(lit), state.step);
    effects.tint(this, state.view === "map" || !lit.both ? lit.row : -1);
    if (this.pinned()) this.describe();
    says.textContent = line(this, lit) ?? says.textContent;
  }

  /** As cross; rows of other pictures than maps are steps. */
  framed(lit) {
    const { view } = this.state;
    if (OF_HEADS.includes(view)) return cross(lit);
    return [view !== "agree" && lit.token?.[0] === "target" ? lit.token[1] : -1, -1];
  }

  linesOf(kind) {
    if (!kind?.holds(this.kind?.open)) return [];
    const { lines, off } = this.state;
    const [layer, head] = kind.open;
    const alone = lines === "head";
    const heads = [...kind.headNames.keys()].filter((one) => (alone ? one === head : !off.has(one)));
    if (kind.byHead && !alone) this.fetchHeads(kind, layer, heads);
    return heads.filter((one) => kind.has(layer, one)).flatMap((one) => {
      const rows = kind.map(layer, one);
      if (alone && kind.effect) return effects.lines(kind, rows);
      return { rows, limit: kind.limit, colour: alone ? null : headColour(one) };
    });
  }

  /** Fetches heads of a layer that are not there yet, and draws their lines. */
  async fetchHeads(kind, layer, heads) {
    const missing = heads.filter((head) => !kind.has(layer, head));
    const fetched = await Promise.allSettled(missing.map((head) => kind.fetch(layer, head)));
    if (fetched.some(({ status }) => status === "fulfilled") && kind === this.kind) this.light();
  }

  async render(focus = false) {
    const { kind, state, part } = this;
    this.projector.light(state.projector);
    this.film.render();
    for (const [name, bar] of Object.entries(this.tabs)) bar.mark(state[name]);
    if (kind) this.tiles.select(...kind.open, focus);
    const title = kind ? [...kind.names(), kind.role()].filter(Boolean).join(" · ") : this.say("no_attention");
    this.title.textContent = effects.title(this) ?? sampling.title(this) ?? title;
    legend(this);
    this.steering?.render();
    this.describe();
    const others = this.beside?.render() ?? [];
    for (const { lines } of Object.values(this.parts)) if (lines) lines.spots = null;
    this.light();
    await Promise.all([part, ...others].map((one) => draw(this, one)));
  }

  shown({ told, kind } = this.part) {
    const { view, picture } = this.state;
    if (this.measure === "effects") return effects.shown(this);
    if (sampling.open(this)) return sampling.shown(this);
    if (view === "inside" && kind) return this.row();
    if (!told.views[view]?.length) return kind ? { look: kind.look, kind } : null;
    const found = told.views[view].filter((one) => !one.kind || one.kind === this.state.kind);
    return found[picture] ?? found[0] ?? null;
  }

  /** How the pinned row, or the one worth a sentence, is made. */
  row() {
    const { kind, told } = this;
    const lit = this.pinned() ? this.lines.of(...this.pinned()).row : -1;
    const [layer, head] = kind.open;
    const place = { kind: kind.code, layer, head, row: lit >= 0 ? lit : kind.telling[layer][head] };
    const here = JSON.stringify(told.inside?.place) === JSON.stringify(place);
    return here ? told.inside : this.wait({ view: "inside", ...place });
  }

  wait(parameters) {
    const wanted = JSON.stringify([this.whole.stamp, parameters]);
    if (wanted !== this.wanted) this.host.ask(parameters);
    this.wanted = wanted;
    this.says.textContent = this.say("computing");
    return null;
  }

  resized() {
    const width = this.root.clientWidth;
    const size = `${width} ${innerHeight}`;
    if (size === this.size || !this.told || !width) return;
    Object.assign(this, { size, narrow: width < QUIET });
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.render());
  }

  describe(place = null) {
    const parts = card(this, place);
    // A button that is replaced while it is pressed is never clicked.
    const old = this.card.children;
    const same = parts.length === old.length && parts.every((part, i) => part.isEqualNode(old[i]));
    if (!same) put(this.card, parts);
  }
}
