// The film: the decoding step by step, played or by a slider.

import { fill } from "./data.js";
import { el } from "./dom.js";

const BEAT = 700; // milliseconds per step

export class Film {
  constructor(stage) {
    const { words } = stage.told;
    this.stage = stage;
    const about = { type: "button", "data-testid": "stage-play", "aria-label": words.play };
    this.play = el("button.hl-play", { ...about, onclick: () => (this.playing ? this.pause() : this.start()) }, "▶");
    const oninput = () => stage.step(Number(this.slider.value));
    this.slider = el("input", { type: "range", min: 0, "aria-label": words.slider, oninput });
    this.said = el("span.hl-count");
    this.box = el("div.hl-player", {}, this.play, this.slider, this.said);
  }

  get count() {
    return this.stage.told.target.tokens.length;
  }

  /** The step that is shown; the last one where all is. */
  get place() {
    return this.stage.state.step ?? this.count - 1;
  }

  render() {
    this.box.hidden = !this.count;
    this.slider.max = Math.max(0, this.count - 1);
    this.slider.value = this.place;
    this.said.textContent = fill(this.stage.told.words.step, { step: this.place + 1, steps: this.count });
  }

  start() {
    if (this.place >= this.count - 1) this.stage.step(0);
    this.sign("❚❚", "pause");
    this.playing = setInterval(() => {
      if (this.place >= this.count - 1) this.pause();
      else this.stage.step(this.place + 1);
    }, BEAT);
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    this.sign("▶", "play");
    if (this.place >= this.count - 1) this.stage.step(null);
  }

  sign(sign, word) {
    this.play.textContent = sign;
    this.play.setAttribute("aria-label", this.stage.told.words[word]);
  }
}
