// The rows above the stage: pages, language, the sentence, examples, model and search.

import { button, el, labelAttributes, setChildren } from "../../stage/frame/dom.js";
import { menu, select, tabs } from "../../stage/frame/widgets.js";
import { directionOf, searchName } from "../payload/messages.js";
import { searchFields } from "./search_menu.js";
import { sentenceBox } from "./sentence_box.js";
import { BEAMS, PAGES, VERSUS } from "../view/view.js";

/** @typedef {import("../app.js").App} App */

export class Controls {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const { wanted, speech, settings } = app;
    const { say } = speech;
    const label = { "aria-label": "", placeholder: say("hint") };
    const take = (/** @type {string} */ text, /** @type {boolean} */ isStep) => app.turn({ text }, isStep);
    this.sentence = sentenceBox("#sentence", wanted.text, take, label);
    this.model = this.modelChoice(wanted.model, (model) => app.turn({ model }), say("model"));
    const close = (/** @type {() => void} */ done) => this.exampleItems(done);
    /** @type {any} */
    this.examples = menu("examples", say("examples"), say("examples"), close);
    /** @type {any} */
    this.search = menu("search", " ", say("search"), () => searchFields(app));
    /** @type {any} */
    this.other = el("div.ask");
    /** @type {any} */
    this.status = el("p.status#status", { role: "status", hidden: true });
    /** @type {any} */
    this.problem = el("p.alert#problem", { role: "alert", hidden: true });
    /** @type {any} */
    this.lost = el("p.status#lost", { hidden: true });
    const pages = Object.fromEntries([...PAGES, "pages"].map((name) => [name, say(name)]));
    const languages = Object.entries(settings.languages);
    const speak = (/** @type {string} */ code) => app.speak(code);
    const head = [
      el("strong.brand", "Headlight"),
      tabs(pages, "pages", "page", PAGES, wanted.page, (/** @type {any} */ change) => app.turn(change)),
      el("span.space"),
      select(languages, speech.language, speak, { ...labelAttributes(say("language")), "data-testid": "stage-language" }),
      button("plain.sign#theme", "◐", () => app.turnTheme(), labelAttributes(say("theme"))),
    ];
    const row = el("div.ask", this.sentence, this.model, this.search, this.examples);
    const lines = [this.status, this.problem, this.lost];
    this.box = el("div.controls", el("header.header", head), row, this.other, lines);
    this.buildOther();
    this.renew(["text"]);
  }

  /**
   * @param {string} chosen
   * @param {(name: string) => void} take
   * @param {string} label
   * @returns {any}
   */
  modelChoice(chosen, take, label) {
    const { models } = this.app.settings;
    const nameOf = (/** @type {typeof models[0]} */ model) =>
      model.source ? directionOf(model, this.app.speech, " → ") : model.name;
    const options = models.map((model) => [model.name, nameOf(model)]);
    return select(options, chosen, take, { ...labelAttributes(label), hidden: models.length < 2 });
  }

  /** What the other side has, on the page Compare. */
  buildOther() {
    const { app } = this;
    const { wanted, speech } = app;
    const { say } = speech;
    const { b } = wanted;
    const names = { versus: say("differs"), ...Object.fromEntries(VERSUS.map((code) => [code, say(`by_${code}`)])) };
    const pick = (/** @type {any} */ change) => app.turn(change);
    const turn = (/** @type {Partial<typeof b>} */ part, isStep = true) =>
      app.turn({ b: { ...app.wanted.b, ...part } }, isStep);
    const beams = BEAMS.map((beam) => [String(beam), searchName(beam, speech)]);
    const take = (/** @type {string} */ beam) => turn({ beam: Number(beam) });
    const about = { "aria-label": say("sentence_b"), placeholder: say("hint") };
    const control = {
      sentence: () => sentenceBox("#sentence-b", b.text, (text, isStep) => turn({ text }, isStep), about),
      model: () => this.modelChoice(b.model, (model) => turn({ model }), say("model_b")),
      search: () => select(beams, String(b.beam), take, labelAttributes(say("search_b"))),
    }[wanted.versus];
    this.other.hidden = wanted.page !== "compare";
    setChildren(this.other, tabs(names, "versus", "versus", VERSUS, wanted.versus, pick), control());
  }

  /**
   * Brings them in step with what is wanted now.
   * @param {string[]} changed names of what has changed
   */
  renew(changed) {
    const { wanted, speech, models } = this.app;
    const { say } = speech;
    const { source } = models.named(wanted.model);
    this.sentence.ariaLabel = say("sentence_in", { language: say(`language_${source}`) });
    if (this.sentence.value !== wanted.text) this.sentence.value = wanted.text;
    this.model.value = wanted.model;
    this.search.firstChild.textContent = wanted.reference === null ? searchName(wanted.beam, speech) : say("reference");
    if (!changed.includes("reference") || wanted.reference === null) this.search.renew();
    if (changed.includes("versus")) this.buildOther();
  }

  /** @param {() => void} close */
  exampleItems(close) {
    const { settings, speech } = this.app;
    const item = (/** @type {string} */ text, /** @type {number} */ i) => {
      const take = () => (close(), this.app.turn({ text }));
      return button("item", [el("strong", speech.say(`example_${i}`)), el("br"), text], take);
    };
    return settings.examples.map(item);
  }

  /** @param {string} text of how loading goes on; "" hides it */
  say(text) {
    this.status.textContent = text;
    this.status.hidden = !text;
  }

  /** @param {string} text "" hides it */
  warn(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
  }

  /**
   * Says that changes were dropped, which can be undone.
   * @param {string | null} sentence that they named words of; null hides it
   * @param {() => void} undo
   */
  offer(sentence, undo) {
    const { say } = this.app.speech;
    this.lost.hidden = sentence === null;
    setChildren(this.lost, say("dropped", { sentence: sentence?.slice(0, 60) }), " ", button("plain", say("undo"), undo));
  }
}
