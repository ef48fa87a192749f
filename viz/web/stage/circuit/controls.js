// What a visitor chooses of the view Circuit: a word or all heads, what it is compared with, from which share lines count.

import { el, setChildren } from "../frame/dom.js";
import { select, tabs } from "../frame/widgets.js";
import { numbersOf } from "./numbers.js";
import { MEAN, RUNNER_UP, againstWord, choose, isChoice, leastOf, pinOf, stepOf, stepsOf } from "./state.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

const OTHER = "other";
const MOST = { word: 0.4, heads: 0.6 };
const LEAST = 0.02;

export class CircuitControls {
  /** What the menus of words offer. */
  offered = "";
  /** Whether a word of the visitor's own is asked for. */
  isTyping = false;

  /** @param {Stage} stage @param {(least: number) => unknown} live  is called while the slider moves */
  constructor(stage, live) {
    const { say, words } = stage;
    this.stage = stage;
    /** @type {[string, string][]} */
    const graphs = [["word", say("circuit_word")], ["heads", say("circuit_heads")]];
    const pick = (/** @type {Record<string, string>} */ { graph }) =>
      choose(stage, { graph: graph === "heads" ? "heads" : "word", least: null, link: null });
    this.tabs = tabs(words, "circuit_graph", "graph", graphs, stage.state?.circuit.graph ?? "word", pick);
    this.ofWord = el("span.circuit-words");
    this.output = el("output");
    const [onchange, oninput] = [
      () => choose(stage, { least: Number(this.slider.value) / 100 }),
      () => {
        this.say(Number(this.slider.value) / 100);
        live(Number(this.slider.value) / 100);
      },
    ];
    this.slider = el("input#circuit-least", { type: "range", min: 100 * LEAST, step: 1, onchange, oninput });
    const range = el("label.field", say("circuit_least"), this.slider, this.output);
    this.box = el("div.circuit-controls", this.tabs, this.ofWord, range);
  }

  /** @param {number} least */
  say(least) {
    this.output.textContent = this.stage.say("circuit_share", { value: least });
  }

  render() {
    const { stage, slider } = this;
    const { circuit } = stage.state;
    const least = leastOf(circuit);
    this.tabs.mark(circuit.graph);
    const { address, word, graph } = numbersOf(stage);
    this.tabs.hidden = !address && !(word && graph); // a file has what was open
    if (document.activeElement !== slider || Number(slider.value) !== Math.round(100 * least)) {
      slider.max = String(100 * MOST[circuit.graph]);
      slider.value = String(Math.round(100 * least));
    }
    this.say(least);
    const offered = JSON.stringify([stepsOf(stage), stepOf(stage), circuit.against, this.isTyping]);
    if (offered !== this.offered) setChildren(this.ofWord, this.words());
    this.offered = offered;
  }

  /** The menus of words. */
  words() {
    const { stage } = this;
    const { say, state, host } = stage;
    if (!host.ask || !stage.result.predicts) return [];
    const steps = stepsOf(stage);
    const open = (/** @type {string} */ step) => stage.choose({ pin: pinOf(stage, Number(step)), step: null });
    const { against } = state.circuit;
    const isOther = this.isTyping || !isChoice(against);
    const others = [[RUNNER_UP, say("circuit_runner_up")], [MEAN, say("circuit_mean")], [OTHER, say("circuit_other")]];
    const pick = (/** @type {string} */ value) => {
      this.isTyping = value === OTHER;
      if (this.isTyping) this.render();
      else choose(stage, { against: value, link: null });
    };
    const onchange = (/** @type {{target: HTMLInputElement}} */ { target }) => {
      if (target.value.trim()) choose(stage, { against: againstWord(target.value), link: null });
    };
    const label = { type: "text", size: "10", value: isOther && !this.isTyping ? against.trim() : "", "aria-label": say("circuit_other") };
    return [
      steps.length > 0 && select(steps, String(stepOf(stage)), open, { "aria-label": say("circuit_of") }, ".pictures#circuit-word"),
      select(others, isOther ? OTHER : against, pick, { "aria-label": say("circuit_against") }, ".pictures#circuit-against"),
      isOther && el("input.pictures#circuit-other", { ...label, onchange }),
    ];
  }
}
