// The next word of a text: what temperature, top-k and top-p leave of its distribution, computed here to follow the
// sliders; and the continuation, which the server draws.

import { sum } from "../../recording/text/numbers.js";
import { button, percent } from "../frame/dom.js";
import { fields } from "../frame/menus.js";

/** @typedef {import("../main/message.js").Field} Field */
/** @typedef {import("../main/message.js").Given} Given */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */

const MOST_WORDS = 6; // of the text, in the title

/**
 * The distribution that is drawn from, as model/decoding/sampling.py.
 * @param {Float32Array} logits  the largest first
 * @param {Record<string, number>} chance
 */
export function restrict(logits, { temperature, "top-k": k, "top-p": p }) {
  const shares = new Float64Array(logits.length);
  const most = temperature === 0 ? 1 : k || logits.length;
  const some = [...logits.keys()].filter((i) => logits[i] > -Infinity).slice(0, most);
  for (const i of some) shares[i] = Math.exp((logits[i] - logits[some[0]]) / Math.max(temperature, 1e-30));
  const whole = sum(shares);
  let before = 0;
  const kept = shares.map((share) => {
    const stays = p === 1 || before <= p - 1e-6; // while those before it have not reached p
    before += share / whole;
    return stays ? share : 0;
  });
  const rest = sum(kept);
  return Float32Array.from(kept, (share) => share / rest);
}

/** @param {import("../../recording/message/version.js").Version} told @returns {Field[]} */
const allFields = ({ next }) => [...(next?.fields ?? []), ...(next?.writing ?? [])];

/** How the next word is drawn, as an address asks for it. @param {Open} stage @param {Record<string, any>} asked */
function restored({ told }, asked) {
  if (!told.next) return null;
  const number = (/** @type {Field} */ { name, value, options, low = -Infinity, high = Infinity }) => {
    const wanted = Number(asked[name] ?? asked.chance?.[name] ?? value);
    const can = options ? options.some(([code]) => Number(code) === wanted) : wanted >= low && wanted <= high;
    return [name, can ? wanted : Number(value)];
  };
  return { ...Object.fromEntries(allFields(told).map(number)), seed: told.next.seed ?? 0 };
}

/** Those of an address. @param {Open} stage */
function parameters({ told, state: { chance } }) {
  if (!told.next || !chance) return {};
  const own = allFields(told).filter(({ name }) => name !== "seed");
  return Object.fromEntries(own.map(({ name, value }) => [name, chance[name] === Number(value) ? null : chance[name]]));
}

/** @param {Open} stage */
const open = ({ told, state }) => Boolean(told.next) && state.view === "words" && !state.picture;

/** @param {Stage} stage */
function title(stage) {
  const { target } = stage.told;
  const translation = stage.told.translation ?? "";
  if (!open(stage)) return null;
  const last = translation.split(" ");
  const end = last.length > MOST_WORDS ? `… ${last.slice(-MOST_WORDS).join(" ")}` : translation;
  return stage.say("after_text", { text: end || target.tokens[0] });
}

/** The likeliest next word, as it is drawn. @param {Stage} stage */
function answer({ told: { next }, state: { chance }, say }) {
  if (!next || !chance) return "";
  const shares = restrict(next.logits, chance).subarray(0, next.names.length);
  const best = shares.indexOf(Math.max(...shares));
  return say("comes_next", { word: next.names[best], share: percent(shares[best]) });
}

/**
 * The same object for the same choices, so that it is drawn once.
 * @param {Stage} stage
 * @returns {import("../main/view.js").View}
 */
function shown(stage) {
  const { next } = stage.told;
  const { language } = stage;
  const chance = stage.state.chance ?? {};
  const key = JSON.stringify(chance);
  if (next?.drawn?.key === key) return next.drawn.view;
  if (!next) return {};
  const all = restrict(next.logits, chance);
  const given = Array.from(next.own);
  const drawn = Array.from(all.subarray(0, given.length));
  const numbers = [drawn.map((share) => share || null), drawn.map((share, i) => (share ? null : given[i])), given];
  const customdata = given.map((share, i) => [next.said[i], percent(share), percent(drawn[i])]);
  const data = next.look.data.map((trace, i) => ({ ...trace, x: numbers[i], customdata }));
  data[0].text = drawn.map(percent);
  const [left, total] = [all.filter((share) => share > 0), all].map(({ length }) => length.toLocaleString(language));
  const shares = { share: percent(sum(drawn)), own: percent(sum(given)) };
  const line = stage.say("can_be_drawn", { left, total, count: given.length, ...shares });
  /** @type {[string[], string[], number[][]]} */
  const table = [next.names, [data[2].name, data[0].name], given.map((share, i) => [share, drawn[i]])];
  next.options ??= next.fields.map((field) => ({ ...field, value: String(chance[field.name]) }));
  const choose = (/** @type {Given} */ given) => chosen(stage, given);
  const live = (/** @type {Given} */ given) => {
    set(stage, given);
    stage.render();
  };
  const view = { look: { ...next.look, data }, line, table, options: next.options, choose, live };
  next.drawn = { key, view };
  return view;
}

/** Takes other values, and answers with them. @param {Stage} stage @param {Given} given */
function set(stage, given) {
  const { told, state, translation } = stage;
  const { chance } = state;
  for (const { name, value } of allFields(told)) if (chance && name in given) chance[name] = Number(given[name] ?? value);
  if (told.next && !told.next.continued) translation.textContent = answer(stage);
}

/** The server draws another continuation where there is one. @param {Stage} stage @param {Given} given */
function chosen(stage, given) {
  const { next } = stage.told;
  set(stage, given);
  if (!next) return;
  if (Object.values(given).includes(null)) next.options = null;
  stage.remember();
  if (next.seed !== null && stage.host.ask) stage.host.ask({ seed: stage.state.chance?.seed });
  else stage.render();
}

/** @param {Stage} stage */
function writing(stage) {
  const { next } = stage.told;
  const { chance } = stage.state;
  if (!next || !stage.host.ask || !chance) return [];
  const fresh = next.seed === null;
  const go = () => stage.host.ask?.({ seed: fresh ? chance.seed : (chance.seed + 1) % 10000 });
  const own = next.writing.map((field) => ({ ...field, value: chance[field.name] }));
  const draw = button("chip#go-on", stage.say(fresh ? "go_on" : "again"), go);
  return [draw, ...fields(own, (/** @type {Given} */ given) => chosen(stage, given))];
}

export const sampling = { answer, open, parameters, restored, shown, title, writing };
