// The page Lessons: cards are files, and the engine computes what a visitor changes on them.

import { Lessons } from "../lessons/lessons.js";
import { setParameters } from "../stage/main/address.js";
import { unpack } from "../recording/message/packed.js";
import { Page } from "./page.js";
import { LessonParts, MODEL } from "./payload/lesson.js";
import { readFile } from "./settings.js";
import { pagesOf } from "./view/pages.js";
import { LESSONS, PAGES } from "./view/view.js";

/** @typedef {import("../lessons/state.js").Index} Index */

/** @type {Map<string, Promise<Index>>} by language */
const indexes = new Map();

export class LessonsPage extends Page {
  /**
   * @param {import("./settings.js").Settings} settings
   * @param {import("./models.js").Models} models
   * @param {{plotly: import("../stage/main/message.js").Host["plotly"]}} host
   * @param {() => void} arrive makes the page again, from its address
   */
  constructor(settings, models, { plotly }, arrive) {
    super(LESSONS, settings, arrive);
    const parts = new LessonParts(settings, models, this.speech, () => this.lessons.index);
    this.lessons = new Lessons({
      plotly,
      state: (code, answered) => parts.state(code, answered),
      ask: (state, parameters) => parts.ask(state, parameters),
      act: (state, action) => parts.act(state, action),
      part: (address) => parts.cell(address),
      prepare: async (message) => Object.assign(message, { words: this.speech.stageWords(message.words.forms) }),
      link: ({ page, query }) => this.link(page || PAGES[0], query),
      read: this.read,
      write: this.write,
    });
    this.nodes = [this.controls, this.lessons.root];
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
    if (this.speaksOther) return false;
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
    const found = pagesOf(this.settings).find(({ name }) => name === page);
    if (!found) return { href: null, text: say("only_app") };
    const model = this.settings.models[0].name === MODEL ? null : MODEL;
    const address = new URLSearchParams({ page, ...query });
    return { href: `#${setParameters(address, { model: (found.isSheet && query.model) || model, lang: this.speech.requested })}`, text: this.lessons.say("try_it") };
  }

  /** Opens another page, as it was left; of this one all lessons. @param {string} page */
  visit(page) {
    if (page !== LESSONS) return super.visit(page);
    this.write({ lesson: null }, true);
    return this.arrive();
  }

  repaint() {
    this.lessons.pictures.repaint();
  }

  leave() {
    this.lessons.leave();
  }
}
