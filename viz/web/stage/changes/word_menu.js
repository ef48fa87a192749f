// What can be done with a written word: replace it, or keep everything up to it.

import { button, el, percent, setChildren } from "../frame/dom.js";

export class WordMenu {
  /** @param {import("./steer.js").Steering} steering */
  constructor(steering) {
    this.steering = steering;
    const onkeydown = (/** @type {KeyboardEvent} */ { key }) => key === "Escape" && this.ask(null);
    this.box = el("div.words", { hidden: true, onkeydown });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!this.box.contains(/** @type {Node} */ (target))) this.ask(null);
    });
  }

  /** Opens it for a written word; else closes it. @param {import("../main/state.js").Token | null} pinned */
  ask(pinned) {
    const { steering, box } = this;
    box.hidden = pinned?.[0] !== "target" || !steering.acts;
    if (pinned && !box.hidden) this.fill(pinned[1]);
  }

  /** @param {number} step */
  fill(step) {
    const { steering, box } = this;
    const { stage, words } = steering;
    const { tokens, candidates } = stage.result.target;
    const alternatives = (candidates[step] ?? []).map(([name, share], rank) => {
      if (name === tokens[step]) return null;
      return button("item", `${name} ${percent(share)}`, () => steering.act({ do: "write", step, rank }));
    });
    const text = el("input", { type: "text", "aria-label": words.type, placeholder: words.type });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (text.value.trim()) steering.act({ do: "type", step, text: text.value });
    };
    setChildren(
      box,
      el("p", stage.say("instead_of", { token: tokens[step] })),
      alternatives,
      el("form", { onsubmit }, text),
      button("item", words.keep, () => steering.act({ do: "keep", step })),
    );
    const place = stage.lines.chips.target[step].getBoundingClientRect();
    const root = stage.root.getBoundingClientRect();
    const left = Math.max(0, Math.min(place.left - root.left, root.width - box.offsetWidth));
    Object.assign(box.style, { left: `${left}px`, top: `${place.bottom - root.top + 4}px` });
  }
}
