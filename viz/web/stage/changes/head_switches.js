// What a click on a tile does: opens a head, switches it off, makes it uniform, leaves only it, picks it.

import { button, change, dress, el, labelAttributes, setChildren } from "../frame/dom.js";
import { tabs } from "../frame/widgets.js";

/** @typedef {"off" | "uniform" | "alone"} Switch */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */

const MODES = ["open", "off", "uniform", "alone", "several"];

/**
 * Whether an item of a list begins with these elements.
 * @param {unknown[][]} list
 * @param {unknown[]} first
 */
export const has = (list, ...first) => list.some((item) => first.every((part, i) => item[i] === part));

export class HeadSwitches {
  /** @type {Record<string, number[][]>} layers, as the model numbers them, and heads that are picked, by kind */ pickedByKind = {};

  /** @param {import("./steer.js").Steering} steering */
  constructor(steering) {
    this.steering = steering;
    this.mode = steering.stage.message.setting ? "off" : "open";
    this.box = el("div.modes");
  }

  fillIn() {
    const { steering } = this;
    const { words, payload } = steering;
    const choose = (/** @type {Record<string, string>} */ values) => {
      this.mode = values.do;
      steering.stage.fold.render();
    };
    const bar = tabs(words, "do", "do", MODES, this.mode, choose);
    const pressed = { "aria-pressed": String(Boolean(payload.importance)) };
    const weigh = () => steering.act({ do: "importance" });
    setChildren(this.box, bar, steering.stage.result.predicts && button("plain#importance", words.importance, weigh, pressed));
  }

  /** Asks the host to switch a head. @param {Switch} mode @param {Place} place */
  turn(mode, place) {
    const { kind } = this.steering.stage;
    if (!kind) return;
    const [layer, head] = kind.headAt(place);
    this.steering.act({ do: mode, kind: kind.code, layer, head });
  }

  /** Does what a click on a tile stands for; false where it opens the head. @param {Place} place @param {boolean} shift */
  tile(place, shift) {
    if (shift || this.mode === "several") return this.pick(place);
    if (this.mode === "open") return false;
    this.turn(/** @type {Switch} */ (this.mode), place);
    return true;
  }

  get picked() {
    return this.pickedByKind[this.steering.stage.kind?.code ?? ""] ?? [];
  }

  /** Picks a head, or takes it out of the picked ones. @param {Place} place */
  pick(place) {
    const { steering, picked } = this;
    const { stage } = steering;
    if (!stage.kind?.plain) return false;
    const [layer, head] = stage.kind.headAt(place);
    const remaining = picked.filter((item) => !has([item], layer, head));
    const wasPicked = remaining.length < picked.length;
    this.pickedByKind = { [stage.kind.code]: wasPicked ? remaining : [...picked, [layer, head]] };
    steering.heads = "one";
    stage.renderKind();
    stage.render();
    return true;
  }

  /**
   * Shows on a tile, or on the cell of a board, what is changed in its head; returns that in words.
   * @param {HTMLElement} cell
   * @param {import("../../recording/maps/kind.js").Kind} kind
   * @param {Place} place
   */
  sign(cell, kind, place) {
    const { payload, words, stage } = this.steering;
    const { code } = kind;
    const [layer, head] = kind.headAt(place);
    const now = stage.state.version !== "before";
    const off = has(payload.off, code, layer, head);
    const signs = {
      picked: has(this.picked, layer, head) && words.picked,
      "is-off": now && off && words.is_off,
      "is-uniform": now && has(payload.uniform, code, layer, head) && words.is_uniform,
    };
    dress(cell, signs);
    return Object.values(signs).filter(Boolean).join(", ");
  }

  /**
   * Shows on a tile what is changed in its head, what it is worth, and a button that switches it off.
   * @param {HTMLElement} cell
   * @param {import("../../recording/maps/kind.js").Kind} kind
   * @param {Place} place
   */
  decorate(cell, kind, place) {
    const { payload, stage } = this.steering;
    const { code } = kind;
    const [layer, head] = kind.headAt(place);
    cell.ariaLabel = [cell.ariaLabel, this.sign(cell, kind, place)].filter(Boolean).join(", ");
    const worth = payload.importance?.[code];
    if (worth) {
      const most = Math.max(...worth.flatMap((row) => Array.from(row, Math.abs))) || 1;
      const value = worth[place[0]][head];
      cell.append(el("span.worth", { style: `--hl-share: ${Math.abs(value) / most}` }));
      cell.title = stage.say("costs", { change: change(value) });
      cell.ariaLabel += `. ${cell.title}`;
    }
    if (stage.tiles.areSmall) return; // there is no room for a button: the mode says what a click does
    const off = has(payload.off, code, layer, head);
    const about = { tabindex: "-1", "aria-pressed": String(off), ...labelAttributes(stage.say("switch", { layer, head })) };
    const flip = (/** @type {MouseEvent} */ event) => {
      event.stopPropagation();
      this.turn("off", place);
    };
    cell.append(button("power#off", "⏻", flip, about));
  }

  /** The button of a whole layer. @param {import("../main/message.js").KindCode} code @param {number} layer */
  layer(code, layer) {
    const { steering } = this;
    const flip = () => steering.act({ do: "layer", kind: code, layer });
    return button("layer", String(layer), flip, labelAttributes(steering.stage.say("whole_layer", { layer })));
  }
}
