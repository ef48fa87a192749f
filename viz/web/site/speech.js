// The sentences of the page in the language of its visitor.

import { Problem } from "../engine/run/problem.js";
import { complete, problemInWords } from "../recording/text/problems.js";
import { fill } from "../recording/text/sentences.js";

/** @typedef {import("./settings.js").Settings} Settings */

export class Speech {
  /**
   * @param {Settings} settings
   * @param {string | null} requested language that the address asks for
   */
  constructor(settings, requested) {
    const { languages } = settings;
    const browsers = navigator.languages.map((code) => code.split("-")[0]).find((code) => code in languages);
    this.settings = settings;
    this.defaultVersion = settings.language ?? browsers ?? "en";
    this.requested = requested;
    this.language = requested !== null && requested in languages ? requested : this.defaultVersion;
  }

  /** The sentences of the stage, in some forms. @param {string[]} forms */
  stageWords(forms) {
    return { forms, catalogue: this.settings.words[this.language].stage };
  }

  /**
   * A sentence of the page, by its name.
   * @type {import("../recording/message/types.js").Say}
   */
  say = (name, values = {}) => fill(this.settings.words[this.language].page[name] ?? name, values, this.language);

  /**
   * An error as a sentence, as viz/text/errors.py has it.
   * @param {unknown} error
   */
  problem(error) {
    if (!(error instanceof Problem)) return this.say("not_computed");
    const hasTranslation = this.language === "en" || error.template in this.#problems;
    return hasTranslation ? this.phrase(error) : `${this.say("wrong_link")} ${complete(error.message)}`;
  }

  /** What the engine says of a part of its answer, as a sentence. @param {import("../engine/run/problem.js").Phrase} phrase */
  phrase(phrase) {
    return problemInWords(phrase, this.#problems, this.language);
  }

  get #problems() {
    return this.settings.problems[this.language];
  }
}
