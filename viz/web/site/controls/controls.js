// The rows above the stage: pages, language, the sentence, examples, model and search.

import { button, el, labelAttributes, setChildren } from "../../stage/frame/dom.js";
import { menu, select, tabs } from "../../stage/frame/widgets.js";
import { directionOf, searchName } from "../payload/comparing.js";
import { searchFields } from "./search_menu.js";
import { sentenceBox } from "./sentence_box.js";
import { BEAMS, PAGES, VERSUS } from "../view/view.js";

/** @typedef {import("../app.js").App} App */

/** @typedef {Partial<import("../view/view.js").PageRequest>} Change  of the request */

export class Controls {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const { request, speech, settings } = app;
    const { say } = speech;
    const label = { "aria-label": "", placeholder: say("hint") };
    const take = (/** @type {string} */ text, /** @type {boolean} */ isStep) => app.turn({ text }, isStep);
    this.sentence = sentenceBox("#sentence", request.text, take, label);
    this.model = this.modelChoice(request.model, (model) => app.turn({ model }), say("model"));
    const items = (/** @type {() => void} */ close) => this.exampleItems(close);
    this.examples = menu("examples", say("examples"), say("examples"), items);
    this.search = menu("search", " ", say("search"), () => searchFields(app));
    this.otherSide = el("div.ask");
    this.status = el("p.status#status", { role: "status", hidden: true });
    this.problem = el("p.alert#problem", { role: "alert", hidden: true });
    this.lost = el("p.status#lost", { hidden: true });
    const pages = Object.fromEntries([...PAGES, "pages"].map((name) => [name, say(name)]));
    const languages = Object.entries(settings.languages);
    const speak = (/** @type {string} */ code) => app.speak(code);
    const head = [
      el("h1.brand", "Headlight"),
      tabs(pages, "pages", "page", PAGES, request.page, (/** @type {Change} */ change) => app.turn(change)),
      el("span.space"),
      select(languages, speech.language, speak, { ...labelAttributes(say("language")), "data-testid": "stage-language" }),
      button("plain.sign#theme", "◐", () => app.turnTheme(), labelAttributes(say("theme"))),
    ];
    const row = el("div.ask", this.sentence, this.model, this.search, this.examples);
    const lines = [this.status, this.problem, this.lost];
    this.box = el("div.controls", el("header.header", head), row, this.otherSide, lines);
    this.buildOtherSide();
    this.renew(["text"]);
  }

  /**
   * @param {string} selected
   * @param {(name: string) => void} take
   * @param {string} label
   */
  modelChoice(selected, take, label) {
    const { models } = this.app.settings;
    const nameOf = (/** @type {typeof models[0]} */ model) =>
      model.source ? directionOf(model, this.app.speech, " → ") : model.name;
    const options = models.map((model) => [model.name, nameOf(model)]);
    return select(options, selected, take, { ...labelAttributes(label), hidden: models.length < 2 });
  }

  /** Builds the controls of side B, on the page Compare. */
  buildOtherSide() {
    const { app } = this;
    const { request, speech } = app;
    const { say } = speech;
    const { b } = request;
    const names = { versus: say("differs"), ...Object.fromEntries(VERSUS.map((code) => [code, say(`by_${code}`)])) };
    const pick = (/** @type {Change} */ change) => app.turn(change);
    const turn = (/** @type {Partial<typeof b>} */ part, isStep = true) =>
      app.turn({ b: { ...app.request.b, ...part } }, isStep);
    const beams = BEAMS.map((beam) => [String(beam), searchName(beam, speech)]);
    const take = (/** @type {string} */ beam) => turn({ beam: Number(beam) });
    const about = { "aria-label": say("sentence_b"), placeholder: say("hint") };
    this.sentenceB = sentenceBox("#sentence-b", b.text, (text, isStep) => turn({ text }, isStep), about);
    const control = {
      sentence: () => [this.sentenceB, this.pairsMenu()],
      model: () => this.modelChoice(b.model, (model) => turn({ model }), say("model_b")),
      search: () => select(beams, String(b.beam), take, labelAttributes(say("search_b"))),
    }[request.versus];
    this.otherSide.hidden = request.page !== "compare";
    setChildren(this.otherSide, tabs(names, "versus", "versus", VERSUS, request.versus, pick), control());
  }

  /**
   * Updates the controls to the request.
   * @param {string[]} names of its properties that have changed
   */
  renew(names) {
    const { request, speech, models } = this.app;
    const { say } = speech;
    const { source } = models.get(request.model);
    this.sentence.ariaLabel = say("sentence_in", { language: say(`language_${source}`) });
    if (this.sentence.value !== request.text) this.sentence.value = request.text;
    if (this.sentenceB && this.sentenceB.value !== request.b.text) this.sentenceB.value = request.b.text;
    this.model.value = request.model;
    const search = request.reference === null ? searchName(request.beam, speech) : say("reference");
    const opener = /** @type {HTMLElement} */ (this.search.firstChild);
    opener.textContent = search;
    for (const [name, text] of Object.entries(labelAttributes(`${say("search")}: ${search}`))) opener.setAttribute(name, text);
    if (!names.includes("reference") || request.reference === null) this.search.renew();
    if (names.includes("versus") || names.includes("model")) this.buildOtherSide();
  }

  /** A menu of pairs of texts that differ in one thing; null where the model has none. */
  pairsMenu() {
    const { request, settings, speech } = this.app;
    const named = settings.pairs.map((pair, n) => ({ ...pair, name: speech.say(`pair_${n}`) }));
    const pairs = named.filter(({ model }) => model === request.model);
    if (!pairs.length) return null;
    const text = speech.say("pairs", { n: pairs.length });
    const item = (/** @type {() => void} */ close) => (/** @type {typeof pairs[0]} */ { clean, corrupted, name }) => {
      const take = () => {
        close();
        this.app.turn({ text: clean, b: { ...this.app.request.b, text: corrupted } });
      };
      return button("item", [el("strong", name), el("br"), clean, el("br"), corrupted], take);
    };
    return menu("pairs", text, text, (/** @type {() => void} */ close) => pairs.map(item(close)));
  }

  /** @param {() => void} close */
  exampleItems(close) {
    const { settings, speech } = this.app;
    const item = (/** @type {string} */ text, /** @type {number} */ i) => {
      const take = () => {
        close();
        this.app.turn({ text });
      };
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
   * Says that changes were dropped, and offers to undo it.
   * @param {string | null} sentence whose words the changes named; null hides the offer
   * @param {() => void} undo
   */
  offer(sentence, undo) {
    const { say } = this.app.speech;
    this.lost.hidden = sentence === null;
    setChildren(this.lost, say("dropped", { sentence: sentence?.slice(0, 60) }), " ", button("plain", say("undo"), undo));
  }
}
