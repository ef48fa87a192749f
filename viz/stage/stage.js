// The stage: one translation, all its heads, one of them large. Knows nothing of Streamlit; a host brings messages.

import { Beside } from "./beside.js";
import { Kind, at, fill, unpack } from "./data.js";
import { el, menu, tabs } from "./dom.js";
import { effects } from "./effects.js";
import { Lines, headColour } from "./lines.js";
import { LargeMap } from "./map.js";
import { code, downloads, form } from "./menus.js";
import { draw } from "./picture.js";
import { Projector } from "./projector.js";
import { sampling } from "./sampling.js";
import { Steering } from "./steer.js";
import { card, line } from "./telling.js";
import { Tiles } from "./tiles.js";

const NOWHERE = { row: -1, column: -1 };
const QUIET = 560; // pixels of width below which only lines of the word pointed at are drawn
const BEAT = 700; // milliseconds per step of the film
const VIEWS = ["map", "mask", "positions", "words", "inside"];
const SWITCHES = ["unscaled", "unmasked", "temperature", "dropout", "sample"]; // of the view "inside"
const EFFECTS = ["measure", "against"];

const OWN = ["kind", "layer", "head", "view", "step", "lines", "pin", "version", "projector", "row"];
/** What the stage chooses and writes into the address by itself. */
export const PLACE = [...OWN, ...EFFECTS, ...SWITCHES, "top-k", "top-p", "count"];

/** What lines are drawn from: weights, or the sizes of differences. */
function sizes(kind, layer, head) {
  const map = kind.map(layer, head);
  return kind.signed ? map.map((row) => row.map((value) => Math.abs(value) / kind.limit)) : map;
}

export class Stage {
  /**
   * `host` has plotly() and part(address), which promise Plotly and the bytes of maps that did not travel with the
   * message, read() and write(parameters) for the address of the page, and ask(parameters), which has the server make
   * another message; without ask there are no options. act(action) has it change something, where a message has
   * `steering`; shell() promises the page that the stage can be kept as (file.js). A page of its own has none of these.
   */
  constructor(root, host) {
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
    Object.assign(this, { whole, bytes });
    const { setting } = whole;
    if (setting) this.state = this.opened = null;
    this.root.classList.toggle("hl-set", Boolean(setting));
    this.root.classList.toggle("hl-board", Boolean(setting && whole.steering));
    this.take();
    if (!setting) this.host.write(whole.address, whole.owned);
    this.remember();
    this.fillIn();
    this.render().then(() => {
      this.root.dataset.ready = String(++this.drawn);
      // The server computes what was looked at last; who has gone back to the weights waits for effects once only.
      if (another && whole.effects?.kinds && this.state.measure !== "effects") this.host.ask?.({ measure: null });
    });
  }

  /** Takes over the translation that is chosen: the one with the changes, the one without, or their difference. */
  take() {
    const { whole } = this;
    const { comparing } = whole;
    this.versions = whole.before ? ["before", "after", "difference"] : ["after"];
    // Of two beside each other only one with attention can be the one whose tiles are shown.
    if (comparing) this.versions = this.versions.filter((version) => this.toldOf(version).kinds.length);
    this.usual = comparing ? (this.versions[this.versions.length - 1] ?? "after") : "after";
    const { version, measure } = this.state ?? this.asked();
    this.version = this.versions.includes(version) ? version : this.usual;
    const chosen = this.toldOf(this.version);
    const [shows, told] = comparing ? ["weights", chosen] : effects.applied(this, chosen, measure);
    this.measure = shows;
    const lines = comparing ? [whole, whole.before] : [told];
    const tokens = JSON.stringify(lines.map(({ source, target }) => [source.tokens, target.tokens]));
    if (this.state && this.tokens && this.tokens !== tokens) Object.assign(this.state, { pin: null, step: null });
    if (this.tokens !== tokens) this.partner = null;
    this.tokens = tokens;
    const words = JSON.stringify(told.words);
    this.told = told;
    this.kinds = shows === "weights" ? this.kindsOf(this.version) : this.ofKinds(told);
    if (words !== this.spoken) {
      this.spoken = words;
      this.frame();
    }
    Object.assign(this, this.beside?.of(this.version));
    this.restore();
  }

  /** What is told of a version. */
  toldOf(version) {
    return version === "after" ? this.whole : { ...this.whole, ...this.whole[version] };
  }

  /** What is told of the translations that are shown: one, or both that stand beside each other. */
  sides() {
    return this.beside ? ["before", "after"].map((version) => this.toldOf(version)) : [this.told];
  }

  /** The kinds of attention of a version; the same ones for as long as the message is. */
  kindsOf(version) {
    if (this.made?.of !== this.whole) this.made = { of: this.whole };
    return (this.made[version] ??= this.ofKinds(this.toldOf(version)));
  }

  ofKinds(told) {
    return new Map(told.kinds.map((kind) => [kind.code, new Kind(kind, this.host.part)]));
  }

  newLines(of = null, height = undefined) {
    return new Lines(
      this.told.words,
      (at) => this.pointed(at && { token: at, of }),
      (side, index) => {
        this.pin(side, index, of);
        this.steering?.ask(this.pinned());
      },
      height,
    );
  }

  newMap(of = null) {
    return new LargeMap(
      this.host.plotly,
      this.told.words,
      (row, column) => this.pointed(row === null ? null : { row, column, of }),
      (row, column) => this.steering?.cell(row, column) || this.pinRow(row, of),
    );
  }

  /** What is to be open at first. */
  asked() {
    return this.whole.setting ?? { ...this.host.memory, ...this.host.read() };
  }

  /** Chooses what is shown: the address first, then what was open before, then what says most. */
  restore() {
    const asked = this.state ?? this.asked();
    const kinds = [...this.kinds.keys()];
    const views = this.views();
    const state = {
      kind: kinds.includes(asked.kind) ? asked.kind : (kinds[0] ?? null),
      view: views.includes(asked.view) ? asked.view : this.usualView(),
      step: asked.step === undefined || asked.step === null ? null : Number(asked.step),
      lines: asked.lines === "layer" ? "layer" : "head",
      picture: 0,
      version: this.version,
      projector: [true, "1"].includes(asked.projector),
      measure: asked.measure ?? "weights",
      pin: asked.pin ?? null,
      off: this.state?.off ?? new Set(),
      chance: sampling.restored(this, asked),
    };
    if (this.beside) Object.assign(state, { lines: "head", step: null });
    if (!(state.step >= 0 && state.step < this.told.target.tokens.length)) state.step = null;
    for (const kind of this.kinds.values()) {
      const own = this.opened?.[kind.code];
      kind.open = this.inside(kind, own) ? own : [...kind.first];
    }
    const wanted = [Number(asked.layer), Number(asked.head)];
    if (state.kind && this.inside(this.kinds.get(state.kind), wanted)) {
      this.kinds.get(state.kind).open = wanted;
    }
    if (state.pin && !this.pinOf(state.pin)) state.pin = null;
    this.state = state;
  }

  inside(kind, place) {
    return Array.isArray(place) && place.every((n, axis) => Number.isInteger(n) && n >= 0 && n < kind.layers[axis]);
  }

  get kind() {
    return this.kinds?.get(this.state?.kind) ?? null;
  }

  views() {
    if (this.measure === "effects") return effects.views(this);
    return VIEWS.filter((view) => {
      if (view === "inside") return this.host.ask && this.kinds.size && [...this.kinds.values()][0].inside;
      if (view === "map") return this.kinds.size;
      return this.sides().some((told) => told.views[view].length);
    });
  }

  /** The view that is open at first. */
  usualView() {
    return this.told.next && this.measure !== "effects" ? "words" : this.views()[0];
  }

  /** The pinned token of the address, s3 or t5, and as3 or at5 of A beside B: {of, token: [side, index]}, or null. */
  pinOf(pin = this.state.pin) {
    const [, first, letter, index] = /^(a?)([st])(\d{1,3})$/.exec(pin ?? "") ?? [];
    const side = { s: "source", t: "target" }[letter];
    if (!side || (first && !this.beside)) return null;
    const of = first ? "before" : "after";
    const { tokens } = (this.beside ? this.toldOf(of) : this.told)[side];
    return Number(index) < tokens.length ? { of, token: [side, Number(index)] } : null;
  }

  /** The pinned token where it is one of the translation whose tiles are shown. */
  pinned() {
    const pin = this.pinOf();
    return pin && (!this.beside || (pin.of === "before") === (this.version === "before")) ? pin.token : null;
  }

  // ---------------------------------------------------------------------------------------------------- the frame

  frame() {
    const { words } = this.told;
    this.translation = el("p", {
      class: "hl-translation",
      "data-testid": "stage-translation",
      dir: "auto",
      tabindex: "0",
    });
    this.notes = el("p", { class: "hl-notes" });
    this.writing = el("div", { class: "hl-switches hl-writing" });
    this.beside = this.whole.comparing ? new Beside(this) : null;
    const height = this.told.next ? 44 : undefined;
    if (!this.beside) Object.assign(this, { lines: this.newLines(null, height), map: this.newMap() });
    this.tiles = new Tiles(
      words,
      (layer, head, focus, shift) =>
        (!focus && this.steering?.tile(layer, head, shift)) || this.open(layer, head, focus),
      (place) => this.describe(place),
    );
    this.card = el("div", { class: "hl-card" });
    this.title = el("h2", { class: "hl-title" });
    this.says = el("p", { class: "hl-says", "aria-live": "polite" });
    this.play = el(
      "button",
      {
        type: "button",
        class: "hl-play",
        "data-testid": "stage-play",
        "aria-label": words.play,
        onclick: () => this.film(),
      },
      "▶",
    );
    this.slider = el("input", {
      type: "range",
      min: 0,
      "aria-label": words.slider,
      oninput: () => this.step(Number(this.slider.value)),
    });
    this.count = el("span", { class: "hl-count" });
    this.legend = el("div", { class: "hl-legend" });
    this.optionsMenu =
      this.host.ask && menu("⚙", words.options, "stage-options", () => form(this.told.options, words, this.asks));
    this.tools = el(
      "div",
      { class: "hl-tools" },
      this.optionsMenu?.box,
      menu("⤓", words.download, "stage-download", (close) => downloads(this, close)).box,
      Object.keys(this.told.code).length ? menu("⟨⟩", words.code, "stage-code", () => this.code()).box : null,
      el(
        "button",
        {
          type: "button",
          class: "hl-plain hl-sign",
          "data-testid": "stage-table",
          title: words.table,
          "aria-label": words.table,
          onclick: () => this.choose({ table: !this.state.table }),
        },
        "▦",
      ),
    );
    this.switches = el("div", { class: "hl-switches", hidden: true });
    this.kindsPlace = el("div", { class: "hl-kinds" });
    this.viewsPlace = el("div", { class: "hl-views" });
    this.player = el("div", { class: "hl-player" }, this.play, this.slider, this.count);
    this.measuresPlace = el("div");
    this.versionsPlace = el("div");
    const bar = el("div", { class: "hl-bar" }, this.beside ? null : this.versionsPlace, this.viewsPlace, this.tools);
    if (this.beside) {
      this.root.replaceChildren(
        this.beside.texts,
        this.projector.button(words),
        this.notes,
        el(
          "div",
          { class: "hl-main hl-sides" },
          el("div", { class: "hl-left" }, this.kindsPlace, this.tiles.box),
          this.beside.strips,
        ),
        el("div", { class: "hl-about" }, bar, this.title, this.card),
        this.beside.pictures,
        this.says,
      );
      return;
    }
    const left = el(
      "div",
      { class: "hl-left" },
      this.kindsPlace,
      this.tiles.box,
      this.player,
      this.legend,
      this.card,
    );
    this.steering = this.whole.steering && this.host.act ? new Steering(this) : null;
    if (this.steering) left.insertBefore(this.steering.modes, this.tiles.box);
    const right = el(
      "div",
      { class: "hl-right" },
      el("div", { class: "hl-head" }, this.title, this.measuresPlace, bar),
      this.switches,
      this.steering?.bar,
      this.map.box,
      this.says,
    );
    this.root.replaceChildren(
      ...(this.steering ? [this.steering.before] : []),
      this.translation,
      this.projector.button(words),
      ...(this.steering ? [this.steering.chips] : []),
      this.writing,
      this.notes,
      this.lines.box,
      ...(this.steering ? [this.steering.menu] : []),
      el("div", { class: "hl-main" }, left, right),
    );
  }

  /** Everything that changes with the translation but not with the choice of a head. */
  fillIn() {
    const { told } = this;
    const { words } = told;
    this.translation.textContent = told.translation || words.nothing;
    this.translation.hidden = told.translation === null; // of a model that is not ours
    if (told.next) {
      this.translation.replaceChildren(...sampling.text(this));
      this.translation.hidden = !told.next.continued;
    }
    this.writing.replaceChildren(...sampling.writing(this));
    const changes = this.steering || this.version === "before" ? [] : (this.whole.steering?.chips ?? []);
    this.notes.textContent = [...told.notes, ...changes.map(([, text]) => text)].join(" ");
    this.notes.hidden = !this.notes.textContent;
    this.player.hidden = !told.target.tokens.length;
    this.kindTabs = tabs(
      words.kinds,
      "data-kind",
      told.kinds.map((kind) => [kind.code, kind.name]),
      this.state.kind,
      (kind) => this.choose({ kind }),
      "stage-kinds",
    );
    this.kindsPlace.replaceChildren(this.kindTabs.bar);
    this.linesTabs = tabs(
      words.lines,
      "data-lines",
      [
        ["head", words["this head"]],
        ["layer", words.layer],
      ],
      this.state.lines,
      (lines) => this.choose({ lines }),
      "stage-lines",
    );
    this.kindsPlace.append(this.beside ? this.versionsPlace : this.linesTabs.bar);
    this.viewTabs = tabs(
      words.views,
      "data-view",
      this.views().map((view) => [view, words[view]]),
      this.state.view,
      (view) => this.choose({ view, picture: 0 }),
      "stage-views",
    );
    this.viewsPlace.replaceChildren(this.viewTabs.bar);
    const versions = this.versions.map((version) => [version, words[version]]);
    const turn = (version) => this.turn(version);
    const { bar } = tabs(words.versions, "data-version", versions, this.version, turn, "stage-versions");
    this.versionsPlace.replaceChildren(...(versions.length > 1 ? [bar] : []));
    this.steering?.fillIn();
    this.beside?.fillIn();
    this.slider.max = Math.max(0, told.target.tokens.length - 1);
    this.optionsMenu?.renew();
    this.renderKind();
  }

  renderKind() {
    const { kind } = this;
    this.kindTabs.mark(this.state.kind);
    this.measuresPlace.replaceChildren(...effects.measures(this));
    this.root.classList.toggle("hl-none", !kind);
    if (this.beside) this.beside.build();
    else this.lines.build(this.told, kind);
    if (kind) {
      this.tiles.build(kind, kind.colours ?? this.told.colours);
      if (this.state.step !== null) this.tiles.paint(this.state.step);
    }
  }

  // ------------------------------------------------------------------------------------------------------ choices

  /** Takes a choice of the visitor; the server hears nothing of it. */
  choose(change, focus = false) {
    const before = { ...this.state };
    Object.assign(this.state, change);
    if (this.state.kind !== before.kind) {
      this.partner = null;
      this.renderKind();
      this.point = null;
    }
    this.viewTabs.mark(this.state.view);
    this.linesTabs.mark(this.state.lines);
    this.remember();
    return this.render(focus);
  }

  /** Turns to the translation before the changes, after them, or to the difference. */
  turn(version) {
    this.state.version = version;
    this.take();
    this.remember();
    this.fillIn();
    return this.render();
  }

  /** Turns to the weights or to the direct effects, which the server computes when they are first asked for. */
  weigh(measure) {
    this.state.measure = measure;
    return this.turn(this.version);
  }

  open(layer, head, focus = false) {
    this.kind.open = [layer, head];
    this.choose(this.state.view === "map" || this.state.view === "mask" ? {} : { view: "map" }, focus);
  }

  remember() {
    this.opened = Object.fromEntries([...this.kinds].map(([name, kind]) => [name, kind.open]));
    if (this.whole.setting) return;
    const { kind, view, step, lines, measure, pin, projector, chance } = this.state;
    const inside = view === "inside";
    const first = this.kind?.first ?? [];
    const own = this.kind?.open ?? [];
    const moved = own.some((n, axis) => n !== first[axis]);
    const parameters = {
      kind: kind === this.told.kinds[0]?.code && !inside ? null : kind,
      layer: moved || inside ? own[0] : null,
      head: moved || inside ? own[1] : null,
      view: view === this.usualView() ? null : view,
      step,
      lines: lines === "layer" ? lines : null,
      pin,
      version: this.version === this.usual ? null : this.version,
      measure: measure === "effects" ? measure : null,
      projector: projector ? 1 : null,
    };
    const version = this.version === this.usual ? undefined : this.version;
    this.host.memory = { kind, layer: own[0], head: own[1], view, step, lines, measure, pin, version, chance };
    if (measure !== "effects") parameters.against = null;
    if (!inside) for (const name of ["row", ...SWITCHES]) parameters[name] = null;
    Object.assign(parameters, sampling.parameters(this));
    this.host.write(parameters, Object.keys(parameters));
  }

  pin(side, index, of = null) {
    if (index < 0) return;
    const pin = `${of === "before" ? "a" : ""}${side[0]}${index}`;
    this.partner = null;
    this.choose({ pin: this.state.pin === pin ? null : pin });
  }

  pinRow(row, of = null) {
    const steps = ["words", "lens", "left-out"].includes(this.state.view);
    if (!["map", "mask"].includes(this.state.view) && !steps) return;
    const side = this.kind?.steps || steps ? "target" : "source";
    const kind = of ? this.beside.parts[of].kind : this.kind;
    const index = steps ? row : kind[side].row.indexOf(row);
    if (index >= 0) this.pin(side, index, of);
  }

  pointed(point) {
    this.point = point;
    // The word pointed at last beside the pinned one stays the one that the card speaks of.
    if (point?.token && this.state.pin) this.partner = point.token;
    this.light();
  }

  key(event) {
    if (event.target.closest("input, select, textarea, .hl-panel") || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const kind = [...this.kinds.keys()][Number(event.key) - 1];
    if (kind) this.choose({ kind });
    else if (event.key === "Escape" && this.state.pin && !this.state.projector) {
      this.choose({ pin: null });
      this.steering?.ask(null);
    }
  }

  /** Python that makes what is drawn large, to copy. */
  code() {
    const { kind, told, state } = this;
    const name = { map: state.kind, mask: `mask ${state.kind}` }[state.view] ?? state.view;
    const { temperature, "top-k": top_k, "top-p": top_p } = state.chance ?? {};
    const place = { layer: kind?.open[0], head: kind?.open[1], temperature, top_k, top_p };
    return code(told.code[name] ?? "", place, told.words);
  }

  // --------------------------------------------------------------------------------------------------------- film

  film() {
    if (this.playing) return this.pause();
    const last = this.told.target.tokens.length - 1;
    if (this.state.step === null || this.state.step >= last) this.step(0);
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", this.told.words.pause);
    this.playing = setInterval(() => {
      if (this.state.step >= last) return this.pause();
      this.step(this.state.step + 1);
    }, BEAT);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", this.told.words.play);
    if (this.state.step >= this.told.target.tokens.length - 1) this.step(null);
  }

  step(step) {
    const last = this.told.target.tokens.length - 1;
    this.state.step = step === last && !this.playing ? null : step;
    if (this.kind) this.tiles.paint(this.state.step);
    this.remember();
    this.render();
  }

  // ------------------------------------------------------------------------------------------------------ drawing

  /** The row and the column that are pointed at, played or pinned, and the token they stand for. */
  lit() {
    if (this.beside) return this.beside.lit(this.version);
    const pinned = this.pinned();
    const token = this.point?.token ?? (this.point ? null : (this.filmed() ?? pinned));
    if (token && this.kind) return { ...this.lines.of(...token), token };
    if (this.point?.row !== undefined) return { row: this.point.row, column: this.point.column, both: true };
    return NOWHERE;
  }

  filmed() {
    return this.state.step === null ? null : ["target", this.state.step];
  }

  light() {
    if (!this.kind) return this.beside || this.lines.light(NOWHERE, this.pinned(), this.state.step);
    const lit = this.lit();
    if (this.beside) this.beside.light();
    else {
      this.lines.light(lit, this.pinned(), this.state.step);
      this.lines.draw(this.linesOf(this.kind), lit, this.state.step, this.narrow);
    }
    this.tiles.light(lit.row, lit.row >= 0 && !lit.both ? -1 : lit.column);
    effects.tint(this, this.state.view === "map" || !lit.both ? lit.row : -1);
    if (this.pinned()) this.describe();
    this.map.light(this.litIn(lit));
    this.says.textContent = line(this, lit) ?? this.says.textContent;
  }

  /** What is lit in the picture that is open: rows of other pictures than maps are steps. */
  litIn(lit) {
    if (["map", "mask"].includes(this.state.view)) return lit;
    if (this.state.view === "agree") return NOWHERE;
    return { row: lit.token?.[0] === "target" ? lit.token[1] : -1, column: -1 };
  }

  /** The maps of a kind whose lines are drawn. */
  linesOf(kind) {
    const [layer, head] = kind.open;
    if (this.state.lines === "head") {
      if (!kind.has(layer, head)) return [];
      return kind.effect ? effects.lines(kind, kind.map(layer, head)) : [{ rows: sizes(kind, layer, head) }];
    }
    const heads = Array.from({ length: kind.layers[1] }, (_, one) => one);
    return heads
      .filter((one) => kind.has(layer, one) && !this.state.off.has(one))
      .map((one) => ({ rows: sizes(kind, layer, one), colour: headColour(one) }));
  }

  async render(focus = false) {
    const { kind, state, told } = this;
    const { words } = told;
    this.projector.light(state.projector);
    this.count.textContent = fill(words.step, {
      step: (state.step ?? told.target.tokens.length - 1) + 1,
      steps: told.target.tokens.length,
    });
    this.slider.value = state.step ?? told.target.tokens.length - 1;
    if (kind) {
      this.tiles.select(...kind.open, focus);
      const [layer, head] = kind.open;
      const names = kind.single ? { layer, head } : { layer: kind.layerNames[layer], head: kind.headNames[head] };
      const role = kind.roles?.[layer][head];
      this.title.textContent =
        fill(kind.single ? words.head : words.summary, { title: kind.title, ...names }) + (role ? ` · ${role}` : "");
    } else {
      this.title.textContent = words["no attention"];
    }
    this.title.textContent = sampling.title(this) ?? this.title.textContent;
    if (this.measure === "effects") this.title.textContent = effects.title(this) ?? this.title.textContent;
    this.heads();
    this.steering?.render();
    this.describe();
    const others = this.beside?.render();
    this.light();
    await draw(this);
    await others;
  }

  /** The heads of the layer, to be clicked away. */
  heads() {
    this.legend.hidden = this.state.lines !== "layer" || !this.kind;
    if (this.legend.hidden) return;
    this.legend.replaceChildren(
      ...Array.from({ length: this.kind.layers[1] }, (_, head) => {
        const on = !this.state.off.has(head);
        const flip = () => {
          if (on) this.state.off.add(head);
          else this.state.off.delete(head);
          this.choose({});
        };
        return el(
          "button",
          {
            type: "button",
            class: "hl-plain",
            "aria-pressed": String(on),
            title: this.told.words.off,
            style: `--hl-own: ${headColour(head)}`,
            onclick: flip,
          },
          String(head),
        );
      }),
    );
  }

  /** What is drawn large: a look, its numbers, and the line under it. */
  shown(told = this.told, kind = this.kind) {
    const { state } = this;
    if (this.measure === "effects") return effects.shown(this);
    if (sampling.open(this)) return sampling.shown(this);
    if (state.view === "inside" && kind) return this.row();
    if (state.view === "map" || !told.views[state.view]?.length) return kind ? { look: kind.look, kind } : null;
    const found = told.views[state.view].filter((one) => !one.kind || one.kind === state.kind);
    return found[state.picture] ?? found[0] ?? null;
  }

  /** How the pinned row, or the one worth a sentence, comes about; computed by the server when first asked for. */
  row() {
    const { kind, told } = this;
    const lit = this.pinned() ? this.lines.of(...this.pinned()).row : -1;
    const [layer, head] = kind.open;
    const place = { kind: kind.code, layer, head, row: lit >= 0 ? lit : at(kind.told, layer, head) };
    const here = told.inside && Object.entries(place).every(([name, value]) => told.inside.place[name] === value);
    if (here) return told.inside;
    const key = JSON.stringify([told.stamp, place]);
    if (key !== this.wanted) {
      this.wanted = key;
      this.host.ask({ view: "inside", ...place });
    }
    this.says.textContent = told.words.computing;
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

  /** Forgets where tokens stand. */
  unmeasure() {
    for (const lines of this.beside?.lines() ?? [this.lines]) lines.measured = lines.spots = null;
  }

  /** Fills the card: of a head that is pointed at, or of what is pinned or open. */
  describe(place = null) {
    const parts = card(this, place);
    // A button that is replaced while it is pressed is never clicked: pressing takes the focus from a word, which
    // describes what is there again.
    const old = this.card.children;
    const same = parts.length === old.length && parts.every((part, i) => part.isEqualNode(old[i]));
    if (!same) this.card.replaceChildren(...parts);
  }

  /** Colours of the page have changed. */
  themed() {
    if (this.told) this.render();
  }
}
