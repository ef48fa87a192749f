// The stage: one translation, all its heads, one of them large. Knows nothing of Streamlit; a host brings messages.

import { at, unpack } from "./data.js";
import { effects } from "./effects.js";
import { build, fillIn, legend } from "./frame.js";
import { Lines, headColour } from "./lines.js";
import { LargeMap } from "./map.js";
import { draw } from "./picture.js";
import { Projector } from "./projector.js";
import { sampling } from "./sampling.js";
import { Open } from "./state.js";
import { card, line } from "./telling.js";

const NOWHERE = { row: -1, column: -1 };
const QUIET = 560; // pixels of width below which only lines of the word pointed at are drawn
const OF_HEADS = ["map", "mask"];
const OF_STEPS = ["words", "lens", "left-out"]; // whose rows are steps

/** What lines are drawn from: weights, or the sizes of differences. */
function sizes(kind, layer, head) {
  const map = kind.map(layer, head);
  return kind.signed ? map.map((row) => row.map((value) => Math.abs(value) / kind.limit)) : map;
}

export class Stage extends Open {
  /**
   * `host` has plotly() and part(address), which promise Plotly and the bytes of maps that did not travel with the
   * message, read() and write(parameters) for the address of the page, and ask(parameters), which has the server make
   * another message; without ask there are no options. act(action) has it change something, where a message has
   * `steering`; shell() promises the page that the stage can be kept as (file.js). A page of its own has none of these.
   */
  constructor(root, host) {
    super();
    Object.assign(this, { root, host, state: null, point: null, drawn: 0 });
    this.asks = (names, value) => host.ask(Object.fromEntries([names].flat().map((name) => [name, value])));
    root.classList.add("hl-stage");
    new ResizeObserver(() => this.resized()).observe(root);
    addEventListener("resize", () => this.resized());
    root.addEventListener("keydown", (event) => this.key(event));
    this.projector = new Projector(this);
  }

  /** Shows a message; the same one again changes nothing. */
  show(bytes) {
    const whole = unpack(bytes);
    if (whole.stamp === this.whole?.stamp) return;
    const another = Boolean(this.whole);
    const { setting } = whole;
    Object.assign(this, { whole, bytes, made: {} });
    if (setting) this.state = this.opened = null;
    this.root.classList.toggle("hl-set", Boolean(setting));
    this.root.classList.toggle("hl-board", Boolean(setting && whole.steering));
    this.take();
    const owned = whole.owned.map((name) => [name, null]);
    if (!setting && this.host.ask) this.host.write({ ...Object.fromEntries(owned), ...whole.address });
    this.remember();
    this.fillIn().then(() => {
      this.root.dataset.ready = String(++this.drawn);
      // The server computes what was looked at last; who has gone back to the weights waits for effects once only.
      if (another && whole.effects?.kinds && this.state.measure !== "effects") this.host.ask?.({ measure: null });
    });
  }

  /** Takes over the chosen version: with the changes, without them, or their difference. */
  take() {
    const { whole } = this;
    const { comparing } = whole;
    this.versions = whole.before ? ["before", "after", "difference"] : ["after"];
    // Of two beside each other only one with attention can be the one whose tiles are shown.
    if (comparing) this.versions = this.versions.filter((version) => this.toldOf(version).kinds.length);
    this.usual = (comparing && this.versions.at(-1)) || "after";
    const { version, measure } = this.state ?? this.asked();
    this.version = this.versions.includes(version) ? version : this.usual;
    const chosen = this.toldOf(this.version);
    [this.measure, this.told] = comparing ? ["weights", chosen] : effects.applied(this, chosen, measure);
    const lines = comparing ? [whole, whole.before] : [this.told];
    const tokens = JSON.stringify(lines.map(({ source, target }) => [source.tokens, target.tokens]));
    if (this.tokens !== tokens) {
      if (this.state && this.tokens) Object.assign(this.state, { pin: null, step: null });
      Object.assign(this, { tokens, partner: null });
    }
    this.kinds = this.measure === "weights" ? this.kindsOf(this.version) : this.ofKinds(this.told);
    const words = JSON.stringify(this.told.words);
    if (words !== this.spoken) build(this);
    this.spoken = words;
    Object.assign(this, this.beside?.of(this.version));
    this.restore();
  }

  newLines(of, height) {
    const point = (at) => this.pointed(at && { token: at, of });
    const pin = (side, index) => {
      this.pin(side, index, of);
      this.steering?.ask(this.pinned());
    };
    return new Lines(this.told.words, point, pin, height);
  }

  newMap(of = null) {
    const point = (row, column) => this.pointed(row === null ? null : { row, column, of });
    const pin = (row, column) => this.steering?.cell(row, column) || this.pinRow(row, of);
    return new LargeMap(this.host.plotly, this.told.words, point, pin);
  }

  fillIn() {
    this.point = null; // the word that had the focus is replaced
    fillIn(this);
    this.renderKind();
    return this.render();
  }

  renderKind() {
    const { kind } = this;
    this.tabs.kinds.mark(this.state.kind);
    this.places.measures.replaceChildren(...effects.measures(this));
    this.root.classList.toggle("hl-none", !kind);
    if (this.beside) this.beside.build();
    else this.lines.build(this.told, kind);
    if (!kind) return;
    this.tiles.build(kind);
    if (this.state.step !== null) this.tiles.paint(this.state.step);
  }

  choose(change, focus = false) {
    const before = this.state.kind;
    Object.assign(this.state, change);
    if (this.state.kind !== before) {
      Object.assign(this, { partner: null, point: null });
      this.renderKind();
    }
    this.tabs.views.mark(this.state.view);
    this.tabs.lines?.mark(this.state.lines);
    this.remember();
    return this.render(focus);
  }

  turn(version) {
    this.state.version = version;
    this.take();
    this.remember();
    return this.fillIn();
  }

  /** Turns to weights or effects, which the server computes when they are first asked for. */
  weigh(measure) {
    this.state.measure = measure;
    return this.turn(this.version);
  }

  open(layer, head, focus = false) {
    this.kind.open = [layer, head];
    this.choose(OF_HEADS.includes(this.state.view) ? {} : { view: "map" }, focus);
  }

  pin(side, index, of = null) {
    if (index < 0) return;
    const pin = `${of === "before" ? "a" : ""}${side[0]}${index}`;
    this.partner = null;
    this.choose({ pin: this.state.pin === pin ? null : pin });
  }

  pinRow(row, of = null) {
    const { view } = this.state;
    if (OF_STEPS.includes(view)) return this.pin("target", row, of);
    const kind = of ? this.beside.parts[of].kind : this.kind;
    const side = kind?.steps ? "target" : "source";
    if (OF_HEADS.includes(view)) this.pin(side, kind[side].row.indexOf(row), of);
  }

  pointed(point) {
    this.point = point;
    // The word pointed at last beside the pinned one stays the one that the card speaks of.
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

  /** Shows a step of the film; the last one, and null, show all. */
  step(step) {
    this.state.step = step === this.film.count - 1 && !this.film.playing ? null : step;
    if (this.kind) this.tiles.paint(this.state.step);
    this.remember();
    this.render();
  }

  /** The row, column and token that are pointed at, played or pinned. */
  lit() {
    if (this.beside) return this.beside.lit(this.version);
    const { point } = this;
    const token = point ? point.token : (this.filmed() ?? this.pinned());
    if (token) return { ...this.lines.of(...token), token };
    return point ? { row: point.row, column: point.column, both: true } : NOWHERE;
  }

  filmed() {
    return this.state.step === null ? null : ["target", this.state.step];
  }

  light() {
    const { beside, kind, lines, tiles, state, says } = this;
    if (!kind) return beside || lines.light(NOWHERE, this.pinned(), state.step);
    const lit = this.lit();
    if (beside) beside.light();
    else {
      lines.light(lit, this.pinned(), state.step);
      lines.draw(this.linesOf(kind), lit, state.step, this.narrow);
    }
    tiles.light(lit.row, lit.row >= 0 && !lit.both ? -1 : lit.column);
    effects.tint(this, state.view === "map" || !lit.both ? lit.row : -1);
    if (this.pinned()) this.describe();
    this.map.light(this.litIn(lit));
    says.textContent = line(this, lit) ?? says.textContent;
  }

  /** Rows of other pictures than maps are steps. */
  litIn(lit) {
    if (OF_HEADS.includes(this.state.view)) return lit;
    if (this.state.view === "agree") return NOWHERE;
    return { row: lit.token?.[0] === "target" ? lit.token[1] : -1, column: -1 };
  }

  linesOf(kind) {
    const [layer, head] = kind.open;
    if (this.state.lines === "head") {
      if (!kind.has(layer, head)) return [];
      return kind.effect ? effects.lines(kind, kind.map(layer, head)) : [{ rows: sizes(kind, layer, head) }];
    }
    const heads = kind.places.filter(([own, one]) => own === layer && kind.has(own, one) && !this.state.off.has(one));
    return heads.map(([, one]) => ({ rows: sizes(kind, layer, one), colour: headColour(one) }));
  }

  async render(focus = false) {
    const { kind, state, told, beside } = this;
    const { words } = told;
    this.projector.light(state.projector);
    this.film.render();
    if (kind) this.tiles.select(...kind.open, focus);
    const named = kind?.names().join(" · ");
    const role = kind?.roles?.[kind.open[0]][kind.open[1]];
    const title = named ? [named, role].filter(Boolean).join(" · ") : words.no_attention;
    this.title.textContent = effects.title(this) ?? sampling.title(this) ?? title;
    legend(this);
    this.steering?.render();
    this.describe();
    const others = beside?.render();
    this.light();
    await draw(this);
    await others;
  }

  /** What is drawn large: a look, its numbers, and the line under it. */
  shown(told = this.told, kind = this.kind) {
    const { view, picture } = this.state;
    if (this.measure === "effects") return effects.shown(this);
    if (sampling.open(this)) return sampling.shown(this);
    if (view === "inside" && kind) return this.row();
    if (!told.views[view]?.length) return kind ? { look: kind.look, kind } : null;
    const found = told.views[view].filter((one) => !one.kind || one.kind === this.state.kind);
    return found[picture] ?? found[0] ?? null;
  }

  /** How the pinned row, or the one worth a sentence, comes about. */
  row() {
    const { kind, told } = this;
    const lit = this.pinned() ? this.lines.of(...this.pinned()).row : -1;
    const [layer, head] = kind.open;
    const place = { kind: kind.code, layer, head, row: lit >= 0 ? lit : at(kind.told, layer, head) };
    const here = told.inside && Object.entries(place).every(([name, value]) => told.inside.place[name] === value);
    return here ? told.inside : this.wait(place, { view: "inside", ...place });
  }

  wait(what, parameters) {
    const wanted = JSON.stringify([this.whole.stamp, what]);
    if (wanted !== this.wanted) this.host.ask(parameters);
    this.wanted = wanted;
    this.says.textContent = this.told.words.computing;
    return null;
  }

  resized() {
    const width = this.root.clientWidth;
    const size = `${width} ${innerHeight}`;
    if (size === this.size || !this.told || !width) return;
    Object.assign(this, { size, narrow: width < QUIET });
    this.unmeasure();
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.render());
  }

  unmeasure() {
    const all = this.beside ? this.beside.all.map((part) => part.lines) : [this.lines];
    for (const lines of all) if (lines) lines.measured = lines.spots = null;
  }

  /** Fills the card, of a head that is pointed at where there is one. */
  describe(place = null) {
    const parts = card(this, place);
    // A button that is replaced while it is pressed is never clicked: pressing takes the focus from a word, which
    // describes what is there again.
    const old = this.card.children;
    const same = parts.length === old.length && parts.every((part, i) => part.isEqualNode(old[i]));
    if (!same) this.card.replaceChildren(...parts);
  }

  themed() {
    if (this.told) this.render();
  }
}
