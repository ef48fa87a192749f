// The search for a translation: beam, length penalty, or a reference that the decoder reads instead.

import { fields } from "../../stage/frame/menus.js";
import { sentenceBox } from "./sentence_box.js";
import { BEAMS } from "../view/view.js";

/**
 * The contents of the menu.
 * @param {import("../app.js").App} app
 */
export function searchFields(app) {
  const { request, speech } = app;
  const { say } = speech;
  const { beam, penalty, reference } = request;
  const isForced = reference !== null;
  const beams = BEAMS.map((width) => [String(width), say(`beam_${width}`)]);
  /** @type {import("../../recording/message/payloads.js").Field[]} */
  const menuFields = [
    {
      ...{ type: "choice", name: "beam", label: say("beam"), value: String(beam), help: say("about_search") },
      ...{ options: beams, enabled: !isForced },
    },
    {
      ...{ type: "range", name: "penalty", label: say("penalty"), value: penalty, help: say("about_penalty") },
      ...{ low: 0, high: 2, step: 0.1 },
    },
    {
      ...{ type: "switch", name: "reference", label: say("forced"), value: String(Number(isForced)) },
      help: say("about_forced"),
    },
  ];
  const take = (/** @type {Record<string, string>} */ { beam, penalty, reference }) => {
    if (beam) app.turn({ beam: Number(beam) });
    if (penalty) app.turn({ penalty: Number(penalty) });
    if (reference) app.turn({ reference: reference === "1" ? app.translation : null });
  };
  const controls = fields(menuFields, take);
  if (!isForced) return controls;
  const type = (/** @type {string} */ text, /** @type {boolean} */ isStep) => app.turn({ reference: text }, isStep);
  const about = { "aria-label": say("reference"), placeholder: say("reference") };
  return [...controls, sentenceBox("#reference", reference, type, about)];
}
