// The lessons inside Streamlit, which brings their index; every state of a card is asked for at its address.

import { unpack } from "../recording/message/packed.js";
import { Answers, Places, fetchPart, query, writeQuery } from "../pages/hosting.js";
import { plotly } from "../stage/frame/plotly.js";
import { catalogueOf, fetchCatalogue } from "../stage/main/words.js";
import { Lessons } from "./lessons.js";

/** @typedef {import("./state.js").Index & {stamp: string}} Index */
/** @typedef {import("./state.js").Parameters} Parameters */
/** @typedef {import("./state.js").State} State */

const RECORDED = "lessons/why"; // as in viz/pages/lessons/why_recorded.py
/** @type {Places<Index>} */
const places = new Places(mount);

/** @returns {import("../pages/hosting.js").Page<Index>} */
function mount() {
  /** @type {Answers<State>} */
  const states = new Answers();
  const fetchAnswer = (/** @type {Parameters} */ parameters) => fetchPart(lessons.index.address ?? "", parameters);
  /** @param {string} code @param {boolean} answered @param {Parameters} asked */
  const state = (code, answered, asked) => {
    const parameters = { ...asked, card: code, answered: String(Number(answered)) };
    const name = `${lessons.index.address}?${new URLSearchParams(parameters)}`;
    return states.get(name, () => fetchAnswer(parameters).then((bytes) => /** @type {State} */ (unpack(new Uint8Array(bytes)))));
  };
  const lessons = new Lessons({
    plotly,
    state,
    part: (address) =>
      address.startsWith(`${RECORDED}?`) ? fetchAnswer(Object.fromEntries(new URLSearchParams(address.slice(RECORDED.length)))) : fetchPart(address),
    prepare: async ({ words }) => catalogueOf(words) || fetchCatalogue(words.address ?? "", fetchPart),
    ask: ({ query: before = {} }, parameters, code, answered) => state(code, answered, withoutNulls({ ...before, ...parameters })),
    act: ({ query: before = {} }, action, code, answered) => state(code, answered, { ...before, action: JSON.stringify(action) }),
    link: ({ page, query: parameters }) => {
      const language = query().get("lang");
      const search = new URLSearchParams({ ...parameters, ...(language && { lang: language }) });
      return { href: `./${page}${String(search) && `?${search}`}`, text: lessons.say("try_it") };
    },
    read: () => Object.fromEntries(query()),
    write: writeQuery,
  });
  return {
    root: lessons.root,
    take: (index) => lessons.show(index),
    draw: () => lessons.draw(),
    repaint: () => lessons.pictures.repaint(),
    leave: () => lessons.leave(),
  };
}

/** @param {Parameters} parameters @returns {Parameters} */
const withoutNulls = (parameters) => Object.fromEntries(Object.entries(parameters).filter(([, value]) => (value ?? null) !== null));

/** @param {{data: Uint8Array, parentElement: Element, setTriggerValue: import("../pages/hosting.js").Trigger}} component */
export function show(component) {
  places.show(component);
}

/** @param {{parentElement: Element}} component */
export function leave(component) {
  places.leave(component);
}
