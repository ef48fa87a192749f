// What is open on the stage, and how the address and the visitor's next page know of it.

import { Kind } from "./data.js";
import { effects } from "./effects.js";
import { sampling } from "./sampling.js";

const VIEWS = ["map", "mask", "positions", "words", "inside"];
const OF_ROWS = ["row", "unscaled", "unmasked", "temperature", "dropout", "sample"]; // of the view "inside"

export class Open {
  ofKinds(told) {
    return new Map(told.kinds.map((kind) => [kind.code, new Kind(kind, this.host.part)]));
  }

  asked() {
    return this.whole.setting ?? { ...this.host.memory, ...this.host.read() };
  }

  /** Chooses what is shown: the address first, then what was open before, then what says most. */
  restore() {
    const asked = this.state ?? this.asked();
    const step = Number(asked.step ?? -1);
    this.state = {
      kind: this.kinds.has(asked.kind) ? asked.kind : (this.told.kinds[0]?.code ?? null),
      view: this.views().includes(asked.view) ? asked.view : this.usualView(),
      step: !this.beside && step >= 0 && step < this.told.target.tokens.length ? step : null,
      lines: asked.lines === "layer" && !this.beside ? "layer" : "head",
      picture: 0,
      version: this.version,
      projector: [true, "1"].includes(asked.projector),
      measure: asked.measure ?? "weights",
      pin: this.pinOf(asked.pin ?? null) ? asked.pin : null,
      off: this.state?.off ?? new Set(),
      chance: sampling.restored(this, asked),
    };
    for (const kind of this.kinds.values()) {
      const own = this.opened?.[kind.code];
      kind.open = kind.holds(own) ? own : [...kind.first];
    }
    const wanted = [Number(asked.layer), Number(asked.head)];
    if (this.kind?.holds(wanted)) this.kind.open = wanted;
  }

  get kind() {
    return this.kinds?.get(this.state?.kind) ?? null;
  }

  views() {
    if (this.measure === "effects") return effects.views(this);
    const [first] = this.kinds.values();
    const sides = this.beside ? [this.sides.before, this.sides.after] : [this];
    const has = { map: Boolean(first), inside: this.host.ask && first?.inside };
    return VIEWS.filter((view) => has[view] ?? sides.some(({ told }) => told.views[view]?.length));
  }

  usualView() {
    return this.told.next && this.measure !== "effects" ? "words" : this.views()[0];
  }

  /** A pin of the address (s3, t5; of A beside B as3, at5) as {of, token: [side, index]}, or null. */
  pinOf(pin = this.state.pin) {
    const [, first, letter, index] = /^(a?)([st])(\d{1,3})$/.exec(pin ?? "") ?? [];
    if (!letter || (first && !this.beside)) return null;
    const [of, side] = [first ? "before" : "after", letter === "s" ? "source" : "target"];
    const { tokens } = (this.beside ? this.sides[of] : this).told[side];
    return Number(index) < tokens.length ? { of, token: [side, Number(index)] } : null;
  }

  /** The pinned token if it is of the translation whose tiles are shown. */
  pinned() {
    const pin = this.pinOf();
    return pin && (!this.beside || (pin.of === "before") === (this.version === "before")) ? pin.token : null;
  }

  /** Keeps what is open: for the next message, for the next visit, and in the address. */
  remember() {
    this.opened = Object.fromEntries([...this.kinds].map(([name, kind]) => [name, kind.open]));
    if (this.whole.setting) return;
    const { kind, view, step, lines, measure, pin, projector, chance } = this.state;
    const inside = view === "inside";
    const { open: [layer, head] = [], first } = this.kind ?? {};
    const moved = inside || String([layer, head]) !== String(first);
    const unless = (usual, value) => (usual ? null : value);
    const chosen = {
      step,
      pin,
      lines: unless(lines === "head", lines),
      version: unless(this.version === this.usual, this.version),
      measure: unless(measure !== "effects", measure),
      ...sampling.parameters(this),
    };
    this.host.memory = { kind, layer, head, view, ...chosen, chance };
    const none = [...(measure === "effects" ? [] : ["against"]), ...(inside ? [] : OF_ROWS)];
    this.host.write({
      ...Object.fromEntries(none.map((name) => [name, null])),
      ...chosen,
      kind: unless(kind === this.told.kinds[0]?.code && !inside, kind),
      layer: unless(!moved, layer),
      head: unless(!moved, head),
      view: unless(view === this.usualView(), view),
      projector: unless(!projector, 1),
    });
  }
}
