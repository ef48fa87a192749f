// The page Lessons: cards are files, and the engine computes what a visitor changes on them.

import { Lessons } from "../lessons/lessons.js";
import { el } from "../stage/frame/dom.js";
import { setParameters } from "../stage/main/address.js";
import { unpack } from "../recording/message/packed.js";
import { header } from "./controls/header.js";
import { turnTheme } from "./controls/theme.js";
import { LessonParts, MODEL } from "./payload/lesson.js";
import { Speech } from "./speech.js";
import { readFile } from "./settings.js";
import { fragment, go } from "./view/address.js";
import { LESSONS, PAGES } from "./view/view.js";

/** @typedef {import("../lessons/state.js").Index} Index */

const MEGA = 1e6;
let left = ""; // the address of the page that was left for the lessons
/** @type {Map<string, Promise<Index>>} by language */
const indexes = new Map();

/** Goes to the choice of lessons. @param {string | null} language  that the address asks for */
export function openLessons(language) {
  left = location.hash;
  go(`#${setParameters(new URLSearchParams({ page: LESSONS }), { lang: language })}`, true);
}

export class LessonsPage {
  /**
   * @param {import("./settings.js").Settings} settings
   * @param {import("./models.js").Models} models
   * @param {{plotly: import("../stage/main/message.js").Host["plotly"]}} host
   * @param {() => void} arrive makes the page again, from its address
   */
  constructor(settings, models, { plotly }, arrive) {
    this.settings = settings;
    this.arrive = arrive;
    this.speech = new Speech(settings, fragment().get("lang"));
    document.documentElement.lang = this.speech.language;
    this.status = el("p.status#status", { role: "status", hidden: true });
    const parts = new LessonParts(settings, models, this.speech, () => this.lessons.index);
    this.lessons = new Lessons({
      plotly,
      state: (code, answered) => parts.state(code, answered),
      ask: (state, parameters) => parts.ask(state, parameters),
      act: (state, action) => parts.act(state, action),
      part: (address) => parts.cell(address),
      prepare: async (message) => Object.assign(message, { words: this.speech.stageWords(message.words.forms) }),
      link: ({ page, query }) => this.link(page || PAGES[0], query),
      read: () => Object.fromEntries(fragment()),
      write: (parameters, isStep) => go(`#${setParameters(fragment(), parameters)}`, isStep),
    });
    this.nodes = [el("div.controls", header(this, LESSONS), this.status), this.lessons.root];
  }

  /** Loads the lessons of the language, and shows them. */
  async update() {
    const { language } = this.speech;
    const load = () => readFile(this.settings, `${LESSONS}-${language}`).then((bytes) => /** @type {Index} */ (unpack(bytes)));
    const index = indexes.get(language) ?? load();
    indexes.set(language, index);
    index.catch(() => indexes.delete(language)); // may be tried again
    try {
      await this.lessons.show(await index);
    } catch (error) {
      console.error(error);
      this.say(this.speech.say("not_fetched"));
    }
  }

  /** Draws the card of the address, where its language is the same; else false. */
  revisit() {
    if (new Speech(this.settings, fragment().get("lang")).language !== this.speech.language) return false;
    this.lessons.draw();
    return true;
  }

  /**
   * Where one can go on: another page of these, or the app.
   * @param {string} page
   * @param {Record<string, string>} query
   */
  link(page, query) {
    const { say } = this.speech;
    if (!(/** @type {readonly string[]} */ (PAGES).includes(page))) return { href: null, text: say("only_app") };
    const model = this.settings.models[0].name === MODEL ? null : MODEL;
    const address = new URLSearchParams({ page, ...query });
    return { href: `#${setParameters(address, { model, lang: this.speech.requested })}`, text: this.lessons.say("try_it") };
  }

  /** Opens another page, as it was left. @param {string} page */
  visit(page) {
    const parameters = setParameters(new URLSearchParams(left.slice(1)), { page, lang: this.speech.requested });
    go(page === LESSONS ? `#${setParameters(fragment(), { lesson: null })}` : `#${parameters}`, true);
    this.arrive();
  }

  /** @param {string} language */
  speak(language) {
    const isDefault = language === new Speech(this.settings, null).language;
    go(`#${setParameters(fragment(), { lang: isDefault ? null : language })}`, true);
    this.arrive();
  }

  turnTheme() {
    turnTheme();
    this.repaint();
  }

  repaint() {
    this.lessons.pictures.repaint();
  }

  leave() {
    this.lessons.leave();
  }

  /** @param {string} text "" hides it */
  say(text) {
    this.status.textContent = text;
    this.status.hidden = !text;
  }

  /**
   * Says how far a model has come.
   * @param {import("./settings.js").Model} model
   * @param {number} received bytes
   */
  tell({ size }, received) {
    const values = { received: received / MEGA, total: size / MEGA };
    this.say(received >= size ? "" : this.speech.say("other_loads", values));
  }
}
