// A sheet: question, answer, all of them small at the left, one of them large at the right. A host makes it for an
// address; a choice changes the address, and the sheet of that is drawn in its place.

import { dress, el } from "../stage/frame/dom.js";
import { Controls, arrange } from "./controls.js";
import { Parts } from "./parts.js";

/** @typedef {import("./types.js").Host} Host */
/** @typedef {import("./types.js").Parameters} Parameters */
/** @typedef {import("./types.js").Sheet} Sheet */

const PATIENCE = 200; // ms after which a visitor sees that something is computed

export class SheetView {
  /** @type {Sheet | null} that is shown */ sheet = null;
  /** The newest one that was asked for. */ ticket = {};

  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    const change = (/** @type {Parameters} */ parameters, isStep = true) => this.change(parameters, isStep);
    const context = { host, change };
    const [question, left, right] = ["question", "left", "right"].map((name) => new Controls(`sheet-${name}-controls`, change));
    this.controls = { question, left, right };
    this.question = el("p.question", { hidden: true });
    this.warning = el("p.alert#sheet-warning", { role: "alert", hidden: true });
    this.answer = el("p.answer", { role: "status", "data-testid": "answer" });
    this.below = el("p.answer-note");
    this.left = new Parts("sheet-left", context);
    this.right = new Parts("sheet-right", context);
    arrange(this.left.box, [left.box]);
    arrange(this.right.box, [right.box]);
    const sides = el("div.sheet-sides", this.left.box, this.right.box);
    this.top = el("div.sheet-question", this.question, question.box);
    this.root = el("div.sheet", { "data-testid": "sheet" }, this.top, this.warning, el("div.sheet-answer", this.answer, this.below), sides);
    this.fit = () => requestAnimationFrame(() => [this.left, this.right].forEach((side) => side.fit()));
    this.observer = new ResizeObserver(this.fit);
    this.observer.observe(this.root);
    addEventListener("resize", this.fit);
  }

  /** @param {Parameters} parameters @param {boolean} isStep */
  change(parameters, isStep) {
    this.host.write(parameters, isStep);
    return this.draw();
  }

  /** Draws the sheet of the address, unless a newer one is asked for by then. */
  async draw() {
    const ticket = (this.ticket = {});
    const waits = setTimeout(() => ticket === this.ticket && this.wait(true), PATIENCE);
    try {
      const sheet = await this.host.make(this.host.read());
      if (sheet && ticket === this.ticket) this.show(sheet);
    } catch (error) {
      if (ticket !== this.ticket) return;
      this.warn(this.host.problem(error));
      if (!this.sheet) this.answer.textContent = ""; // nothing is computed any more
    } finally {
      clearTimeout(waits);
      if (ticket === this.ticket) this.wait(false);
    }
  }

  /** @param {Sheet} sheet */
  show(sheet) {
    this.sheet = sheet;
    const { controls, question = "", warning = "", answer, below, left, right } = sheet;
    for (const name of /** @type {const} */ (["question", "left", "right"])) this.controls[name].show(controls[name] ?? []);
    this.question.textContent = question;
    this.question.hidden = !question;
    this.top.hidden = !question && !controls.question?.length;
    this.warn(warning);
    this.answer.textContent = answer;
    this.below.textContent = below;
    this.left.show(left);
    this.right.show(right);
  }

  /** @param {boolean} isWaiting */
  wait(isWaiting) {
    dress(this.root, { waits: isWaiting });
    this.root.setAttribute("aria-busy", String(isWaiting));
    if (isWaiting && !this.sheet) this.answer.textContent = this.host.waiting;
    if (!isWaiting) this.root.dataset.ready = String(Number(this.root.dataset.ready ?? 0) + 1);
  }

  /** @param {string} text  "" hides it */
  warn(text) {
    this.warning.textContent = text;
    this.warning.hidden = !text;
  }

  /** Draws again in a page that has become dark, or light. */
  repaint() {
    this.left.fit();
    this.right.fit();
  }

  leave() {
    this.ticket = {};
    this.observer.disconnect();
    removeEventListener("resize", this.fit);
    this.left.leave();
    this.right.leave();
    this.root.remove();
  }
}
