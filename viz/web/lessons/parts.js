// The parts of a lesson beside its picture: where one is, guesses, all lessons.

import { button, el } from "../stage/frame/dom.js";
import { select } from "../stage/frame/widgets.js";
import { codeOf } from "./state.js";

/** @typedef {import("./lessons.js").Lessons} Lessons */
/** @typedef {import("./state.js").Story} Story */
/** @typedef {NonNullable<ReturnType<typeof import("./state.js").placeOf>>} Place */

/** Where a card stands in its lesson, and the buttons to the next ones. @param {Lessons} lessons @param {Place} place */
export function steps(lessons, { story, number }) {
  const total = story.cards.length;
  const { say } = lessons;
  const dots = "●".repeat(number) + "○".repeat(total - number);
  const label = say("place", { number, total });
  const isLast = number === total;
  const next = isLast ? say("all") : `${say("next")} →`;
  return el(
    "div.lesson-steps",
    el("span.dots#lesson-dots", { role: "img", "aria-label": label }, dots),
    button("lesson-button#lesson-back", `← ${say("back")}`, () => lessons.open(number > 1 ? codeOf(story.code, number - 1) : null)),
    button("lesson-button.primary#lesson-next", next, () => lessons.open(isLast ? null : codeOf(story.code, number + 1))),
  );
}

/** The guesses, and once one is made, which is right. @param {Lessons} lessons @param {Place} place */
export function guesses(lessons, { code, card }) {
  const guess = lessons.guessOf(code);
  const item = (/** @type {string} */ text, /** @type {number} */ n) => {
    const mark = guess === undefined ? "" : n === card.right ? "✓ " : n === guess ? "✗ " : "";
    const look = `lesson-button.guess${n === guess ? ".guessed" : ""}#guess-${n}`;
    return button(look, mark + text, () => lessons.guess(n), { "data-part": `guess-${n}`, "aria-pressed": String(n === guess) });
  };
  return el("div.guesses", card.guesses.map(item));
}

/** Which model answers, where others can. @param {Lessons} lessons @param {Place} place */
export function models(lessons, { code, card }) {
  const { models: names, recording } = lessons.index;
  if (!card.live || !names.length || lessons.guessOf(code) === undefined) return null;
  const options = [["", lessons.say("recorded", { name: recording })], ...names.map((name) => [name, name])];
  return select(options, lessons.model, (name) => lessons.ofModel(name), { "aria-label": lessons.say("model"), "data-testid": "stage-lesson-model" });
}

/** All lessons, small; the open one is framed. @param {Lessons} lessons @param {Story} story */
export function others(lessons, story) {
  const item = (/** @type {Story} */ { code, name }) =>
    button(`lesson-button.other${code === story.code ? ".guessed" : ""}`, name, () => lessons.open(codeOf(code, 1)), { "data-lesson": code });
  return el("div.lesson-others", el("p.picture-title", lessons.say("all")), el("div.lesson-chips", lessons.index.stories.map(item)));
}

/** All lessons as tiles, each with how long it takes. @param {Lessons} lessons */
export function overview(lessons) {
  const { say, index } = lessons;
  const item = (/** @type {Story} */ { code, name, line, cards }, /** @type {number} */ n) => {
    const total = cards.length;
    const done = cards.filter((_, i) => lessons.guessOf(codeOf(code, i + 1)) !== undefined).length;
    const time = [say("minutes", { n: total }), done && say("answered", { done, n: total })].filter(Boolean).join(" · ");
    const title = el("b", `${n + 1}  ${name}`, " ", el("small", `· ${time}`));
    return button("lesson-tile", [title, el("span", line)], () => lessons.open(codeOf(code, 1)), { "data-lesson": code });
  };
  return el("div.lesson-tiles", index.stories.map(item));
}
