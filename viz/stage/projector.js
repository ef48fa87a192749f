// The stage for a room: larger type and nothing beside it. A presenter's remote (PageUp and PageDown) goes through the
// steps of the decoding, or through the heads where nothing is decoded.

import { el } from "./dom.js";

export class Projector {
  constructor(stage) {
    this.stage = stage;
    stage.root.tabIndex = -1;
    document.addEventListener("keydown", (event) => stage.root.isConnected && this.key(event));
  }

  button(words) {
    this.switch = el(
      "button",
      {
        type: "button",
        class: "hl-plain hl-sign hl-corner",
        "data-testid": "stage-projector",
        title: words.projector,
        "aria-label": words.projector,
        onclick: () => this.turn(!this.stage.state.projector),
      },
      "⤢",
    );
    return this.switch;
  }

  /** Turns larger type on or off. */
  turn(projector) {
    const { stage } = this;
    stage.choose({ projector });
    if (projector) stage.root.focus({ preventScroll: true });
  }

  /** Shows whether it is on; CSS does the rest. */
  light(on) {
    const { root } = this.stage;
    if (root.classList.contains("hl-projector") !== on) this.stage.unmeasure();
    root.classList.toggle("hl-projector", on);
    this.switch.setAttribute("aria-pressed", String(on));
  }

  key(event) {
    const { root, state } = this.stage;
    const { key, target } = event;
    if (!state || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (target.closest?.("select, textarea, input:not([type=range])")) return;
    // Letters act only with the focus inside the stage, or while there is nothing but the stage.
    if (key === "p" && (state.projector || root.contains(target))) this.turn(!state.projector);
    if (!state.projector) return;
    if (key === "Escape") this.turn(false);
    if (key !== "PageDown" && key !== "PageUp") return;
    event.preventDefault();
    this.go(key === "PageDown" ? 1 : -1);
  }

  /** One step, or one head, on or back; after the last one comes the first. */
  go(by) {
    const { stage } = this;
    const count = stage.told.target.tokens.length;
    if (count && !stage.beside) {
      if (stage.playing) stage.pause();
      const place = ((stage.state.step ?? count - 1) + by + count) % count; // the last step shows all, as no step does
      return stage.step(place);
    }
    const [layers, heads] = stage.kind.layers;
    const [layer, head] = stage.kind.open;
    const place = (layer * heads + head + by + layers * heads) % (layers * heads);
    return stage.open(Math.floor(place / heads), place % heads);
  }
}

/** A layout with type, and room for it, larger by a factor. */
export function enlarged(value, factor) {
  if (factor === 1 || !value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((part) => enlarged(part, factor));
  const part = ([name, one]) => [name, /^([lrtb]|size)$/.test(name) ? one * factor : enlarged(one, factor)];
  return Object.fromEntries(Object.entries(value).map(part));
}
