// The stage for a room: larger type and nothing beside it. A presenter's remote (PageUp and PageDown) goes through the
// steps of the decoding, or through the heads where nothing is decoded.

import { icon } from "./dom.js";

export class Projector {
  constructor(stage) {
    this.stage = stage;
    stage.root.tabIndex = -1;
    document.addEventListener("keydown", (event) => stage.root.isConnected && this.key(event));
  }

  button({ projector }) {
    const turn = () => this.turn(!this.stage.state.projector);
    return (this.switch = icon("⤢", projector, "stage-projector", turn, "hl-sign.hl-corner"));
  }

  turn(projector) {
    const { stage } = this;
    stage.choose({ projector });
    if (projector) stage.root.focus({ preventScroll: true });
  }

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
    const by = { PageDown: 1, PageUp: -1 }[key];
    if (!by) return;
    event.preventDefault();
    this.go(by);
  }

  /** One step, or head, on or back, in a circle. */
  go(by) {
    const { stage } = this;
    const { film, kind } = stage;
    if (film.count && !stage.beside) {
      film.pause();
      return stage.step((film.place + by + film.count) % film.count); // the last step shows all, as no step does
    }
    const [layer, head] = kind.open;
    const place = layer * kind.layers[1] + head + by;
    return stage.open(...kind.places.at(place % kind.places.length));
  }
}

/** A layout with type, and room for it, larger by a factor. */
export function enlarged(value, factor) {
  if (factor === 1 || !value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((part) => enlarged(part, factor));
  const part = ([name, one]) => [name, /^([lrtb]|size)$/.test(name) ? one * factor : enlarged(one, factor)];
  return Object.fromEntries(Object.entries(value).map(part));
}
