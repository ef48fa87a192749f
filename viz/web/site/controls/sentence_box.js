// A box for a sentence.

import { el } from "../../stage/frame/dom.js";

/**
 * A text box whose text is taken while it is typed; all that is typed in one visit is one entry of the history.
 * @param {string} look
 * @param {string} value
 * @param {(value: string, isStep: boolean) => void} take
 * @param {Record<string, string>} about
 * @returns {HTMLInputElement}
 */
export function sentenceBox(look, value, take, about) {
  let isVisited = false;
  const oninput = (/** @type {InputEvent & {target: HTMLInputElement}} */ { target }) => {
    take(target.value, !isVisited);
    isVisited = true;
  };
  const onblur = () => (isVisited = false);
  const attributes = { type: "text", value, autocomplete: "off", dir: "auto", spellcheck: "false" };
  return /** @type {HTMLInputElement} */ (el(`input.sentence${look}`, { ...attributes, ...about, oninput, onblur }));
}
