// A page of the site that is a sheet: a maker computes it for an address, with the page's file and the engine.

import { Problem } from "../engine/run/problem.js";
import { fill } from "../recording/text/sentences.js";
import { unpack } from "../recording/message/packed.js";
import { MAKERS } from "../sheets/makers.js";
import { Reader } from "../sheets/reader.js";
import { SheetView } from "../sheets/sheet.js";
import { Page } from "./page.js";
import { readFile } from "./settings.js";

/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {import("../sheets/types.js").Sheet} Sheet */

/**
 * What a maker computes with on the site.
 * @typedef {import("../sheets/types.js").Given & {
 *   models: import("./models.js").Models,
 *   settings: Settings,
 *   speech: import("./speech.js").Speech,
 * }} Given  `models` is the engine
 */
/**
 * @typedef {(reader: Reader, given: Given) => Promise<Sheet | null> | Sheet | null} Maker  reads the address; null where a
 *   newer one took its place
 */

/** @type {Map<string, Promise<any>>} files by their address, unpacked */
const files = new Map();

export class SheetPage extends Page {
  /**
   * @param {keyof typeof MAKERS} name
   * @param {Settings} settings
   * @param {import("./models.js").Models} models
   * @param {{plotly: import("../stage/main/message.js").Host["plotly"]}} host
   * @param {() => void} arrive makes the page again, from its address
   */
  constructor(name, settings, models, { plotly }, arrive) {
    super(name, settings, arrive);
    this.models = models;
    /** @type {Maker} */
    this.maker = MAKERS[name];
    this.view = new SheetView({
      plotly,
      read: this.read,
      write: this.write,
      make: (parameters) => this.make(parameters),
      problem: (error) => this.problem(error),
      waiting: this.speech.say("computing"),
    });
    this.nodes = [this.controls, this.view.root];
  }

  /** @param {Record<string, string>} parameters @returns {Promise<Sheet | null>} */
  async make(parameters) {
    const told = await this.kept(`${this.name}-${this.speech.language}`, unpack);
    const { settings, models, speech } = this;
    const { language, requested } = speech;
    const reader = new Reader(parameters);
    const sheet = await this.maker(reader, {
      ...{ told, language, settings, models, speech },
      say: (name, values = {}) => fill(told.words[name] ?? name, values, language),
      file: (name) => this.kept(`${this.name}/${name}`, unpack),
      bytes: (name) => this.kept(`${this.name}/${name}`, (bytes) => bytes),
      problemOf: (error) => (error instanceof Problem ? speech.problem(error) : ""),
      link: (page, query) => `#${new URLSearchParams({ page, ...query, ...(requested && { lang: requested }) })}`,
    });
    const missed = reader.missed.length ? speech.say("missed", { parts: reader.missed.join("; ") }) : "";
    return sheet && { ...sheet, warning: [sheet.warning, missed].filter(Boolean).join(" ") };
  }

  /** @template T @param {string} name @param {(bytes: Uint8Array) => T} read @returns {Promise<T>} */
  kept(name, read) {
    const file = files.get(name) ?? readFile(this.settings, name).then(read);
    files.set(name, file);
    file.catch(() => files.delete(name)); // may be tried again
    return file;
  }

  /** @param {unknown} error */
  problem(error) {
    if (error instanceof Problem) return this.speech.problem(error);
    console.error(error);
    return this.speech.say("sheet_not_fetched");
  }

  update() {
    return this.view.draw();
  }

  /** Draws the sheet of the address, where it is one of this page in the same language; else false. @param {string} page */
  revisit(page) {
    if (page !== this.name || this.speaksOther) return false;
    this.view.draw();
    return true;
  }

  repaint() {
    this.view.repaint();
  }

  leave() {
    this.view.leave();
  }
}
