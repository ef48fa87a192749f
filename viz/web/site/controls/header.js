// The row at the top of every page: pages, language, light or dark.

import { button, el, labelAttributes } from "../../stage/frame/dom.js";
import { select, tabs } from "../../stage/frame/widgets.js";
import { pagesOf } from "../view/pages.js";

/**
 * What stands under the header.
 * @typedef {object} Page
 * @property {import("../settings.js").Settings} settings
 * @property {import("../speech.js").Speech} speech
 * @property {(page: string) => unknown} visit  opens another page
 * @property {(language: string) => unknown} speak
 * @property {() => unknown} turnTheme
 */

/** @param {Page} page @param {string} selected */
export function header(page, selected) {
  const { settings, speech } = page;
  const { say } = speech;
  const names = pagesOf(settings).map(({ name }) => name);
  const words = Object.fromEntries([...names, "pages"].map((name) => [name, say(name)]));
  const languages = Object.entries(settings.languages);
  const speak = (/** @type {string} */ code) => page.speak(code);
  return el(
    "header.header",
    el("h1.brand", "Headlight"),
    tabs(words, "pages", "page", names, selected, ({ page: name }) => page.visit(name)),
    el("span.space"),
    settings.documents && el("a#documents", { href: settings.documents }, say("documents")),
    select(languages, speech.language, speak, { ...labelAttributes(say("language")), "data-testid": "stage-language" }),
    button("plain.sign#theme", "◐", () => page.turnTheme(), labelAttributes(say("theme"))),
  );
}
