// The lessons: cards with a question, guesses and one picture, drawn from what a host gives.

import { button, dress, el, keepFocus, setChildren } from "../stage/frame/dom.js";
import { fill } from "../recording/text/sentences.js";
import { Pictures } from "./pictures.js";
import { guesses, models, others, overview, steps } from "./parts.js";
import { codeOf, placeOf } from "./state.js";

/** @typedef {import("./state.js").Host} Host */
/** @typedef {import("./state.js").Index} Index */
/** @typedef {import("./state.js").State} State */

/** @type {Record<string, string>} names of buttons, by key: the arrows, and the keys of a presenter's remote */
const BUTTONS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave" };
const OWN = "input, select, textarea, [role=gridcell], [role=tab], [role=radio], [role=slider], [role=combobox]";
const PATIENCE = 200; // ms after which a visitor reads that something is computed
/** @type {Map<string, number>} what was guessed, by the code of the card */
const guessed = new Map();

export class Lessons {
  /** @type {Index} */ index = { language: "en", words: {}, stories: [], recording: "", models: [] };
  /** @type {State | null} that is shown */ state = null;
  /** The newest picture. */ ticket = {};
  /** The model that answers where others can; "": what was recorded. */ model = "";

  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    const ask = (/** @type {import("./state.js").Parameters} */ parameters) => this.change(() => this.asks(parameters));
    const act = (/** @type {import("./state.js").Action} */ action) => this.change(() => this.acts(action));
    this.pictures = new Pictures(host, ask, act);
    this.question = el("div.lesson-question");
    this.problem = el("p.alert#lesson-problem", { role: "alert", hidden: true });
    this.answer = el("p.answer", { role: "status" });
    this.detail = el("p.answer-note");
    this.left = el("div.lesson-left");
    this.bar = el("p.note.lesson-bar");
    const right = el("div.lesson-right", this.bar, this.pictures.root);
    const sides = el("div.lesson-sides", this.left, right);
    this.root = el("div.lessons", { "data-testid": "lessons" }, this.question, this.problem, el("div.lesson-answer", this.answer, this.detail), sides);
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.pictures.onResize());
    this.observer.observe(this.root);
  }

  /** Shows the lessons of an index, at the card of the address. @param {Index} index */
  show(index) {
    this.index = index;
    if (!index.models.includes(this.model)) this.model = "";
    return this.draw();
  }

  leave() {
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    document.documentElement.classList.remove("hl-projected");
    this.root.remove();
  }

  /** @type {import("../recording/message/types.js").Say} */
  say = (name, values = {}) => fill(this.index.words[name] ?? name, values, this.index.language);

  /** What the visitor has guessed of a card. @param {string} code */
  guessOf(code) {
    return guessed.get(code);
  }

  /** The card that is open, if any. */
  get place() {
    return placeOf(this.index, this.host.read().lesson);
  }

  /** Opens a card, or the choice of lessons. @param {string | null} code */
  open(code) {
    this.host.write({ lesson: code }, true);
    return this.draw();
  }

  /** @param {number} guess */
  guess(guess) {
    const { place } = this;
    if (!place) return undefined;
    const isFirst = this.guessOf(place.code) === undefined;
    guessed.set(place.code, guess);
    return isFirst ? this.draw() : this.renew();
  }

  /** Has another model answer. @param {string} name */
  ofModel(name) {
    this.model = name;
    return this.draw();
  }

  project() {
    this.host.write({ projector: this.host.read().projector ? null : "1" }, false);
    this.renew();
    this.pictures.onResize();
  }

  /** Draws the card of the address: all but its picture and its answer at once. */
  async draw() {
    this.state = null;
    const asked = this.host.read().lesson;
    const names = this.index.stories.map(({ code }) => code).join(", ");
    this.warn(asked && !this.place ? this.say("nowhere", { asked: asked.slice(0, 40), lessons: names }) : "");
    const { place } = this;
    const [first] = this.index.stories;
    const [code, answered] = place ? [place.code, this.guessOf(place.code) !== undefined] : [codeOf(first.code, 1), false];
    this.renew();
    await this.change(() => this.host.state(code, answered, answered && place?.card.live && this.model ? { model: this.model } : {}));
  }

  /**
   * Shows another state of the card, unless a newer one is asked for by then.
   * @param {() => Promise<State | null>} load
   */
  async change(load) {
    const ticket = (this.ticket = {});
    const waits = setTimeout(() => ticket === this.ticket && this.place && this.wait(), PATIENCE);
    try {
      const state = await load();
      if (!state || ticket !== this.ticket) return;
      this.state = state;
      this.renew();
      if (state.problem) this.warn(state.problem);
      else await this.pictures.show(state);
    } catch (error) {
      if (ticket !== this.ticket) return;
      console.error(error);
      this.warn(this.say("not_fetched"));
    } finally {
      clearTimeout(waits);
      if (ticket === this.ticket) this.root.dataset.ready = String(Number(this.root.dataset.ready ?? 0) + 1);
    }
  }

  wait() {
    if (this.place && this.guessOf(this.place.code) !== undefined && !this.state) this.answer.textContent = this.say("computing");
  }

  /** @param {import("./state.js").Parameters} parameters */
  async asks(parameters) {
    const { state } = this;
    const { code, answered } = this.shown;
    const next = state && (await this.host.ask(state, parameters, code, answered));
    return next && { ...state, ...next };
  }

  /** @param {import("./state.js").Action} action */
  async acts(action) {
    const { state } = this;
    const { code, answered } = this.shown;
    const next = state && (await this.host.act(state, action, code, answered));
    return next && { ...state, ...next };
  }

  /** The card whose picture is shown, and whether with the answer. */
  get shown() {
    const { place } = this;
    if (!place) return { code: codeOf(this.index.stories[0].code, 1), answered: false };
    return { code: place.code, answered: this.guessOf(place.code) !== undefined };
  }

  /** @param {string} text  "" hides it */
  warn(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
  }

  /** Draws all but the picture. */
  renew() {
    const { place, state, say } = this;
    const isLarge = Boolean(this.host.read().projector);
    document.documentElement.classList.toggle("hl-projected", isLarge);
    const label = isLarge ? say("normal") : say("larger");
    const larger = button(`lesson-button#lesson-${isLarge ? "leave" : "projector"}`, label, () => this.project(), { title: say("about_larger") });
    keepFocus(this.question, () => setChildren(this.question, el("p.question", place ? place.card.question : say("question")), larger));
    dress(this.root, { "lesson-open": place });
    keepFocus(this.left, () => setChildren(this.left, place ? this.card(place) : this.choice()));
    const [answer, detail] = place ? this.told(place) : [this.progress(), say("about")];
    this.answer.textContent = answer;
    this.detail.textContent = detail;
    const { stories } = this.index;
    if (!place) setChildren(this.bar, say("first_picture", { name: stories[0].name }));
    else if (state?.link) setChildren(this.bar, this.link(state.link));
    else setChildren(this.bar);
  }

  /** @param {State["link"]} link */
  link(link) {
    const { href, text } = this.host.link(link);
    return href === null ? text : el("a", { href, target: "_self" }, text);
  }

  /** @param {import("./parts.js").Place} place */
  card(place) {
    const { story, card } = place;
    return [
      steps(this, place),
      el("p.picture-title", story.name),
      el("p.look", card.look),
      guesses(this, place),
      models(this, place),
      this.state?.live && el("p.live", this.state.live),
      el("p.note", story.sources),
      others(this, story),
    ];
  }

  choice() {
    return [el("p.picture-title", this.say("choose")), overview(this)];
  }

  /** The answer, and what is small below it. @param {import("./parts.js").Place} place */
  told({ code, card, story }) {
    const guess = this.guessOf(code);
    if (guess === undefined) return [this.say("guess_first", { n: card.guesses.length }), story.line];
    const verdict = guess === card.right ? this.say("right") : this.say("wrong");
    return this.state?.answer ? [`${verdict} ${this.state.answer}`, this.state.detail] : ["", ""];
  }

  /** How many questions there are, and how many of them the visitor has answered. */
  progress() {
    const { stories } = this.index;
    const cards = stories.flatMap(({ code, cards: all }) => all.map(({ right }, n) => ({ right, guess: this.guessOf(codeOf(code, n + 1)) })));
    const done = cards.filter(({ guess }) => guess !== undefined);
    if (!done.length) return this.say("counts", { stories: stories.length, n: cards.length });
    return this.say("progress", { done: done.length, n: cards.length, right: done.filter(({ guess, right }) => guess === right).length });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const name = BUTTONS[event.key];
    const isPlain = !event.defaultPrevented && !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!name || !isPlain || (event.target instanceof Element && event.target.closest(OWN))) return;
    const pressed = this.root.querySelector(`[data-testid=stage-lesson-${name}]`);
    if (!(pressed instanceof HTMLElement)) return;
    event.preventDefault();
    pressed.click();
  }
}

