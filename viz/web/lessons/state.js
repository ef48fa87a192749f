// What a lesson is made of (viz/pages/lessons/contents.py), and who shows it.

/**
 * @typedef {object} Card
 * @property {string} look  what to look at in its picture
 * @property {string} question
 * @property {string[]} guesses
 * @property {number} right  which of them is
 * @property {boolean} live  whether other models can answer, too
 */
/** @typedef {{code: string, name: string, line: string, sources: string, cards: Card[]}} Story */

/**
 * Every lesson in one language, without pictures and answers.
 * @typedef {object} Index
 * @property {string} language
 * @property {Record<string, string>} words
 * @property {Story[]} stories
 * @property {string} recording  the name of the model that was recorded
 * @property {string[]} models  that can answer instead of it
 * @property {string} [address]  in the app: where states are asked for
 * @property {Record<string, string>} [files]  of a page without a server: addresses of states and recorded cells
 */

/**
 * One stage of a card: a packed message, or one that was made here.
 * @typedef {object} StagePart
 * @property {Uint8Array} [message]
 * @property {Made} [made]
 * @property {string[]} title  and what is small beside it; empty where there is one stage
 */
/** @typedef {{message: any, recordings: import("../stage/main/message.js").Recordings}} Made */

/**
 * Cells of which a click frames one, and shows its lines; the oldest of too many goes.
 * @typedef {object} Picks
 * @property {number[][]} cells  rows and columns, in the order of the frames, and of the lines
 * @property {number[]} picked  numbers of cells
 * @property {number} most
 * @property {import("../plot/plot.js").PlotMessage | null} lines
 */

/**
 * A card before a guess, or with the answer.
 * @typedef {object} State
 * @property {string} problem  why there is none; then all else is missing
 * @property {string} answer
 * @property {string} detail
 * @property {string} live  what is so in the model that the visitor chose
 * @property {{page: string, query: Record<string, string>}} link  where one can go on
 * @property {StagePart[]} [stages]
 * @property {Record<string, string>} [query]  page and parameters of what the stage shows
 * @property {Record<string, any>} [setting]  of its message
 * @property {boolean} [board]  whether heads are switched on it
 * @property {import("../plot/plot.js").PlotMessage[]} [figures]
 * @property {import("../plot/plot.js").PlotMessage} [opened]  whose cells a click shows in the first figure
 * @property {Picks} [picks]
 */

/** @typedef {import("../stage/main/message.js").Parameters} Parameters */
/** @typedef {import("../stage/main/message.js").Action} Action */

/**
 * Who shows lessons: the app, or a page without a server.
 * @typedef {object} Host
 * @property {import("../stage/main/message.js").Host["plotly"]} plotly
 * @property {import("../recording/message/remote.js").Part} part  what a stage fetches beside its message
 * @property {(message: any) => Promise<unknown>} prepare  has the sentences of a message at hand
 * @property {(code: string, answered: boolean, asked: Parameters) => Promise<State>} state  of a card
 * @property {(state: State, parameters: Parameters, code: string, answered: boolean) => Promise<State | null>} ask  for
 *   what the stage of a state asks for; null where a newer question took its place
 * @property {(state: State, action: Action, code: string, answered: boolean) => Promise<State | null>} act  the same for a
 *   change on the stage
 * @property {(link: State["link"]) => {href: string | null, text: string}} link
 * @property {() => Parameters} read  parameters of the address
 * @property {(parameters: Parameters, isStep: boolean) => unknown} write
 */

/** The code of a card. @param {string} name @param {number} number */
export const codeOf = (name, number) => `${name}-${number}`;

/**
 * The story and the card of a code, if there is one.
 * @param {Index} index
 * @param {string | undefined} code
 */
export function placeOf({ stories }, code) {
  const [, name, digits] = /^([\w]+)-([1-9]\d?)$/.exec(code ?? "") ?? [];
  const story = stories.find((candidate) => candidate.code === name);
  const number = Number(digits);
  const card = story?.cards[number - 1];
  return story && card && code ? { code, story, card, number } : null;
}
