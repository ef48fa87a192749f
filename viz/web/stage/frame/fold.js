// On a phone the controls between picture and tiles stand behind one button, which says how many of them are set.

import { codesOf } from "../../recording/message/options.js";
import { button, dress } from "./dom.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

export class Fold {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.button = button("fold#fold", "", () => this.turn(!this.isOpen));
    this.turn(false);
  }

  get isOpen() {
    return this.button.ariaExpanded === "true";
  }

  /** @param {boolean} open */
  turn(open) {
    this.button.ariaExpanded = String(open);
    dress(this.stage.root, { unfolded: open });
  }

  /** Names the button again. */
  render() {
    const { stage } = this;
    const n = count(stage);
    const name = n ? stage.say("controls_set", { n }) : stage.say("controls");
    if (this.button.textContent !== name) this.button.textContent = name;
  }
}

/** How many controls are not as they are at first. @param {Stage} stage */
function count(stage) {
  const { state, result, version, defaultVersion, steering, mapOptions } = stage;
  const isSet = [
    state.kind !== (result.kinds[0]?.code ?? null),
    state.view !== stage.defaultView(),
    state.lines !== "head",
    state.sort !== null,
    state.board !== null,
    Boolean(state.table),
    version !== defaultVersion,
    Boolean(steering && steering.switches.mode !== "open"),
    ...Object.values(codesOf(mapOptions)).map((code) => code !== null),
  ];
  return isSet.filter(Boolean).length;
}
