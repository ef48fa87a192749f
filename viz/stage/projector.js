// The stage for a room: large type, nothing beside it, and a presenter's remote goes through the steps of the decoding,
// or through the heads where nothing is decoded.
// @ts-nocheck

import { dress, icon } from "./dom.js";

export class Projector {
  constructor(stage) {
    this.stage = stage;
    document.addEventListener("keydown", (event) => stage.root.isConnected && this.key(event));
  }

  button() {
    const { stage } = this;
    const turn = () => this.turn(!stage.state.projector);
    return (this.switch = icon(".corner#projector", "⤢", stage.say("projector"), turn));
  }

  turn(projector) {
    const { stage } = this;
    stage.choose({ projector });
    if (projector) stage.root.focus({ preventScroll: true });
  }

  light(on) {
    dress(this.stage.root, { projector: on });
    this.switch.ariaPressed = on;
  }

  key(event) {
    const { root, state } = this.stage;
    const { key, target } = event;
    if (!state || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (target.closest?.("select, textarea, input:not([type=range])")) return;
    // Letters act only inside the stage, or while there is nothing else.
    if (key === "p" && (state.projector || root.contains(target))) this.turn(!state.projector);
    if (!state.projector) return;
    if (key === "Escape") this.turn(false);
    const by = { PageDown: 1, PageUp: -1 }[key];
    if (!by) return;
    event.preventDefault();
    this.go(by);
  }

  go(by) {
    const { stage } = this;
    const { film, kind } = stage;
    if (film.count && !stage.beside) {
      film.pause();
      return stage.step((film.place + by + film.count) % film.count);
    }
    const [layer, head] = kind.open;
    const place = layer * kind.headNames.length + head + by;
    return stage.open(...kind.places.at(place % kind.places.length));
  }
}
