// A page of the site that is not the stage: its header, and what every page does.

import { setParameters } from "../stage/main/address.js";
import { el } from "../stage/frame/dom.js";
import { header } from "./controls/header.js";
import { turnTheme } from "./controls/theme.js";
import { Speech } from "./speech.js";
import { fragment, go } from "./view/address.js";
import { visit } from "./view/visits.js";

/** @typedef {import("./settings.js").Settings} Settings */

const MEGA = 1e6;

export class Page {
  /**
   * @param {string} name
   * @param {Settings} settings
   * @param {() => void} arrive makes the page again, from its address
   */
  constructor(name, settings, arrive) {
    this.name = name;
    this.settings = settings;
    this.arrive = arrive;
    this.speech = new Speech(settings, fragment().get("lang"));
    document.documentElement.lang = this.speech.language;
    this.status = el("p.status#status", { role: "status", hidden: true });
    this.bar = el("progress.loading", { max: 1, "aria-label": this.speech.say("loading"), hidden: true });
    this.controls = el("div.controls", header(this, name), this.status, this.bar);
  }

  /** Whether the address is of another language. */
  get speaksOther() {
    return new Speech(this.settings, fragment().get("lang")).language !== this.speech.language;
  }

  /** Parameters of the address. */
  read() {
    return Object.fromEntries(fragment());
  }

  /** @param {import("../stage/main/message.js").Parameters} parameters @param {boolean} isStep */
  write(parameters, isStep) {
    go(`#${setParameters(fragment(), parameters)}`, isStep);
  }

  /** Opens another page, as it was left. @param {string} page */
  visit(page) {
    visit(this.name, page, this.speech.requested);
    this.arrive();
  }

  /** @param {string} language */
  speak(language) {
    const isDefault = language === new Speech(this.settings, null).language;
    this.write({ lang: isDefault ? null : language }, true);
    this.arrive();
  }

  turnTheme() {
    turnTheme();
    this.repaint();
  }

  repaint() {}

  leave() {}

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
    const isComplete = received >= size;
    this.bar.hidden = isComplete;
    this.bar.value = received / size;
    this.say(isComplete ? "" : this.speech.say("other_loads", { received: received / MEGA, total: size / MEGA }));
  }
}
