// The stage for a room: large type, nothing beside it, and a presenter's remote goes through the steps of the decoding,
// or through the heads where nothing is decoded.

import { dress, icon } from "./dom.js";

export class Projector {
  /** @type {HTMLButtonElement} */ switch;

  /** @param {import("../main/stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    document.addEventListener("keydown", (event) => stage.root.isConnected && this.key(event));
  }

  button() {
    const { stage } = this;
    const turn = () => this.turn(!stage.state.projector);
    return (this.switch = icon(".corner#projector", "⤢", stage.say("projector"), turn));
  }

  /** @param {boolean} projector  whether it is for a room */
  turn(projector) {
    const { stage } = this;
    stage.choose({ projector });
    if (projector) stage.root.focus({ preventScroll: true });
  }

  /** @param {boolean} on */
  light(on) {
    dress(this.stage.root, { projector: on });
    this.switch.ariaPressed = String(on);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { root, state } = this.stage;
    const { key } = event;
    const target = /** @type {Element} */ (event.target);
    if (!state || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (target.closest?.("select, textarea, input:not([type=range])")) return;
    // Letters act only inside the stage, or while there is nothing else.
    if (key === "p" && (state.projector || root.contains(target))) this.turn(!state.projector);
    if (!state.projector) return;
    if (key === "Escape") this.turn(false);
    const by = key === "PageDown" ? 1 : key === "PageUp" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    this.go(by);
  }

  /** Goes on by steps, or by heads. @param {number} by */
  go(by) {
    const { stage } = this;
    const { film, kind } = stage;
    if (film.count && !stage.beside) {
      film.pause();
      stage.step((film.place + by + film.count) % film.count);
      return;
    }
    if (!kind) return;
    const [layer, head] = kind.open;
    const place = layer * kind.headNames.length + head + by;
    stage.open(kind.places[(place + kind.places.length) % kind.places.length]);
  }
}
