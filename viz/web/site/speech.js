// The sentences of the page in the language of its visitor.

import { Problem } from "../engine/run/problem.js";
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
    const translated = this.settings.problems[this.language];
    const hasTranslation = this.language === "en" || error.template in translated;
    /** @param {import("../engine/run/problem.js").Value} value */
    const text = (value) =>
      typeof value === "object"
        ? fill(translated[value.template] ?? value.template, value.values, this.language)
        : (translated[value] ?? value);
    const values = Object.fromEntries(Object.entries(error.values).map(([name, value]) => [name, text(value)]));
    const sentence = fill(hasTranslation ? String(text(error.template)) : error.message, values, this.language);
    const complete = `${sentence[0].toUpperCase()}${sentence.slice(1).replace(/\.+$/, "")}.`;
    return hasTranslation ? complete : `${this.say("wrong_link")} ${complete}`;
  }
}
