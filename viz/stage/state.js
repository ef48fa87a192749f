// What is open, and how the address and the visitor's next page know of it.
// @ts-nocheck

import { codesOf } from "../recording/options.js";
import { effects } from "./effects.js";
import { sampling } from "./sampling.js";

const VIEWS = ["map", "mask", "positions", "words", "inside"];
const OF_ROWS = { row: null, unscaled: null, unmasked: null, temperature: null, dropout: null, sample: null };

export class Open {
  ofKinds(told) {
    return new Map(told.kinds.map((kind) => [kind.code, kind]));
  }

  /** Shows what the address asks for, else what was open before, else what says most. */
  restore(asked) {
    const step = Number(asked.step ?? -1);
    this.state = {
      kind: this.kinds.has(asked.kind) ? asked.kind : (this.told.kinds[0]?.code ?? null),
      view: this.views().includes(asked.view) ? asked.view : this.usualView(),
      step: !this.beside && step >= 0 && step < this.told.target.tokens.length ? step : null,
      lines: asked.lines === "layer" && !this.beside ? "layer" : "head",
      picture: 0,
      options: this.mapOptions,
      version: this.version,
      projector: [true, "1"].includes(asked.projector),
      measure: asked.measure ?? "weights",
      pin: this.pinOf(asked.pin ?? null) ? asked.pin : null,
      off: this.state?.off ?? new Set(),
      chance: sampling.restored(this, asked),
    };
    const wanted = [Number(asked.layer), Number(asked.head)];
    for (const kind of this.kinds.values()) {
      const places = [kind === this.kind && wanted, this.opened?.[kind.code]];
      kind.chosen = places.find((place) => kind.holds(place));
    }
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

  /** A pin of the address (s3, t5; of A beside B as3, at5) as {of, token: [side, index]}. */
  pinOf(pin = this.state.pin) {
    const [, first, letter, index] = /^(a?)([st])(\d{1,3})$/.exec(pin ?? "") ?? [];
    if (!letter || (first && !this.beside)) return null;
    const [of, side] = [first ? "before" : "after", letter === "s" ? "source" : "target"];
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
    const place = (kind) => (kind === this.kind ? kind.open : (kind.chosen ?? this.opened?.[kind.code]));
    this.opened = Object.fromEntries([...this.kinds].map(([name, kind]) => [name, place(kind)]));
    if (this.whole.setting) return;
    const { kind, view, step, lines, measure, pin, projector, chance } = this.state;
    const inside = view === "inside";
    const { open: [layer, head] = [], first } = this.kind ?? {};
    const moved = inside || String([layer, head]) !== String(first);
    const chosen = {
      step,
      pin,
      lines: lines === "head" ? null : lines,
      version: this.version === this.usual ? null : this.version,
      measure: measure === "effects" ? measure : null,
      ...sampling.parameters(this),
      ...codesOf(this.mapOptions),
    };
    Object.assign(this.memory, { kind, layer, head, view, ...chosen, chance });
    this.host.write({
      ...(measure !== "effects" && { against: null }),
      ...(!inside && OF_ROWS), // only the view "inside" has them
      ...chosen,
      kind: kind === this.told.kinds[0]?.code && !inside ? null : kind,
      layer: moved ? layer : null,
      head: moved ? head : null,
      view: view === this.usualView() ? null : view,
      projector: projector ? 1 : null,
    });
  }
}
