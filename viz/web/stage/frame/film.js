// The decoding step by step, played or by a slider.

import { button, el, setChildren } from "./dom.js";

const BEAT = 700; // milliseconds per step

export class Film {
  /** @type {ReturnType<typeof setInterval> | null} */ playing = null;

  /** @param {import("../main/stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.play = button("play#play", "", () => (this.playing ? this.pause() : this.start()));
    const oninput = () => stage.step(Number(this.slider.value));
    this.slider = el("input", { type: "range", min: 0, "aria-label": stage.say("slider"), oninput });
    this.counter = el("span.count");
    this.box = el("div.player", this.play, this.slider, this.counter);
  }

  get count() {
    return this.stage.result.target.tokens.length;
  }

  get place() {
    return this.stage.state.step ?? this.count - 1;
  }

  render() {
    const { stage } = this;
    this.box.hidden = !this.count;
    this.slider.max = String(Math.max(0, this.count - 1));
    this.slider.value = String(this.place);
    setChildren(this.counter, stage.say("step", { step: this.place + 1, steps: this.count }));
    setChildren(this.play, this.playing ? "❚❚" : "▶");
    this.play.ariaLabel = stage.say(this.playing ? "pause" : "play");
  }

  start() {
    const ends = () => this.place === this.count - 1;
    this.playing = setInterval(() => (ends() ? this.pause() : this.stage.step(this.place + 1)), BEAT);
    this.stage.step(ends() ? 0 : this.place);
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    this.stage.step(this.place);
  }
}
