// The next word of a text: what temperature, top-k and top-p leave of its distribution, computed here to follow the
// sliders; and the continuation, which the server draws.

import { sum } from "../../recording/text/numbers.js";
import { button, percent } from "../frame/dom.js";
import { fields } from "../frame/menus.js";
import { isNarrow } from "../frame/size.js";

/** @typedef {import("../main/message.js").Field} Field */
/** @typedef {import("../main/message.js").FieldValues} FieldValues */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */

const MOST_WORDS = 6; // of the text, in the title
const MOST_BARS_NARROW = 10; // that have room for their words on a narrow page

/**
 * The distribution that is drawn from, as model/decoding/sampling.py.
 * @param {Float32Array} logits  the largest first
 * @param {Record<string, number>} chance
 */
export function restrict(logits, { temperature, "top-k": k, "top-p": p }) {
  const shares = new Float64Array(logits.length);
  const most = temperature === 0 ? 1 : k || logits.length;
  const candidates = [...logits.keys()].filter((i) => logits[i] > -Infinity).slice(0, most);
  for (const i of candidates) shares[i] = Math.exp((logits[i] - logits[candidates[0]]) / Math.max(temperature, 1e-30));
  const total = sum(shares);
  let before = 0;
  const restricted = shares.map((share) => {
    const stays = p === 1 || before <= p - 1e-6; // while those before it have not reached p
    before += share / total;
    return stays ? share : 0;
  });
  const restrictedTotal = sum(restricted);
  return Float32Array.from(restricted, (share) => share / restrictedTotal);
}

/** @param {import("../../recording/message/version.js").Version} result @returns {Field[]} */
const allFields = ({ next }) => [...(next?.fields ?? []), ...(next?.writing ?? [])];

/**
 * How the next word is drawn, as an address asks for it.
 * @param {Open} stage
 * @param {import("../main/message.js").Parameters} request
 */
function restore({ result }, request) {
  if (!result.next) return null;
  const number = (/** @type {Field} */ { name, value, options, low = -Infinity, high = Infinity }) => {
    const requested = Number(request[name] ?? request.chance?.[name] ?? value);
    const can = options ? options.some(([code]) => Number(code) === requested) : requested >= low && requested <= high;
    return [name, can ? requested : Number(value)];
  };
  return { ...Object.fromEntries(allFields(result).map(number)), seed: result.next.seed ?? 0 };
}

/** The parameters of the address; null for what is as it is by default. @param {Open} stage */
function parameters({ result, state: { chance } }) {
  if (!result.next || !chance) return {};
  const addressFields = allFields(result).filter(({ name }) => name !== "seed");
  return Object.fromEntries(addressFields.map(({ name, value }) => [name, chance[name] === Number(value) ? null : chance[name]]));
}

/** @param {Open} stage */
const open = ({ result, state }) => Boolean(result.next) && state.view === "words" && !state.picture;

/** @param {Stage} stage */
function title(stage) {
  const { target } = stage.result;
  const translation = stage.result.translation ?? "";
  if (!open(stage)) return null;
  const last = translation.split(" ");
  const end = last.length > MOST_WORDS ? `… ${last.slice(-MOST_WORDS).join(" ")}` : translation;
  return stage.say("after_text", { text: end || target.tokens[0] });
}

/** The likeliest next word, as it is drawn. @param {Stage} stage */
function answer({ result: { next }, state: { chance }, say }) {
  if (!next || !chance) return "";
  const shares = restrict(next.logits, chance).subarray(0, next.names.length);
  const best = shares.indexOf(Math.max(...shares));
  return say("comes_next", { word: next.names[best], share: percent(shares[best]) });
}

/**
 * The bars of the next word; the same object for the same choices, so that it is drawn once.
 * @param {Stage} stage
 * @returns {import("../main/view.js").View}
 */
function buildView(stage) {
  const { next } = stage.result;
  const { language } = stage;
  const chance = stage.state.chance ?? {};
  if (!next) return {};
  const count = Math.min(next.names.length, isNarrow(stage) ? MOST_BARS_NARROW : Infinity);
  const key = JSON.stringify([chance, count]);
  if (next.cached?.key === key) return next.cached.view;
  const all = restrict(next.logits, chance);
  const modelShares = Array.from(next.probabilities.subarray(0, count));
  const sampledShares = Array.from(all.subarray(0, modelShares.length));
  const remaining = sampledShares.map((share) => share || null);
  const excluded = sampledShares.map((share, i) => (share ? null : modelShares[i]));
  const numbers = [remaining, excluded, modelShares];
  const customdata = modelShares.map((share, i) => [next.hoverTexts[i], percent(share), percent(sampledShares[i])]);
  /** @type {import("../../recording/pictures/looks.js").Trace[]} */
  const data = next.look.data.map((trace, i) => ({ ...trace, x: numbers[i], y: trace.y.slice(0, count), customdata }));
  const layout = { ...next.look.layout, yaxis: { ...next.look.layout.yaxis, range: [count - 0.5, -0.5] } };
  data[0].text = sampledShares.map(percent);
  const line = stage.say("can_be_drawn", {
    left: all.filter((share) => share > 0).length.toLocaleString(language),
    total: all.length.toLocaleString(language),
    count: modelShares.length,
    share: percent(sum(sampledShares)),
    model: percent(sum(modelShares)),
  });
  const names = next.names.slice(0, count);
  /** @type {[string[], string[], number[][]]} */
  const table = [names, [data[2].name, data[0].name], modelShares.map((share, i) => [share, sampledShares[i]])];
  next.options ??= next.fields.map((field) => ({ ...field, value: String(chance[field.name]) }));
  const choose = (/** @type {FieldValues} */ values) => chooseValues(stage, values);
  const live = (/** @type {FieldValues} */ values) => {
    setValues(stage, values);
    stage.render();
  };
  const view = { look: { ...next.look, data, layout }, line, table, options: next.options, choose, live };
  next.cached = { key, view };
  return view;
}

/** Sets values, and shows the word that comes next with them. @param {Stage} stage @param {FieldValues} values */
function setValues(stage, values) {
  const { result, state, translation } = stage;
  const { chance } = state;
  for (const { name, value } of allFields(result)) {
    if (chance && name in values) chance[name] = Number(values[name] ?? value);
  }
  if (result.next && !result.next.continued) translation.textContent = answer(stage);
}

/**
 * Sets values that were chosen; where the text is continued, the server draws again.
 * @param {Stage} stage
 * @param {FieldValues} values
 */
function chooseValues(stage, values) {
  const { next } = stage.result;
  setValues(stage, values);
  if (!next) return;
  if (Object.values(values).includes(null)) next.options = null;
  stage.remember();
  if (next.seed !== null && stage.host.ask) stage.host.ask({ seed: stage.state.chance?.seed });
  else stage.render();
}

/** The controls of the continuation. @param {Stage} stage */
function writing(stage) {
  const { next } = stage.result;
  const { chance } = stage.state;
  if (!next || !stage.host.ask || !chance) return [];
  const fresh = next.seed === null;
  const go = () => stage.host.ask?.({ seed: fresh ? chance.seed : (chance.seed + 1) % 10000 });
  const controls = next.writing.map((field) => ({ ...field, value: chance[field.name] }));
  const draw = button("chip#go-on", stage.say(fresh ? "go_on" : "again"), go);
  return [draw, ...fields(controls, (/** @type {FieldValues} */ values) => chooseValues(stage, values))];
}

export const sampling = { answer, open, parameters, restore, buildView, title, writing };
