// The next word of a text: bars of its distribution and of what temperature, top-k and top-p leave of it, and the
// continuation, which the server draws. The only numbers that the browser computes: bars follow the sliders.

import { fill } from "./data.js";
import { button, el, percent } from "./dom.js";
import { fields } from "./menus.js";

const CHOSEN = ["temperature", "top-k", "top-p", "count"]; // in the address
const MOST_WORDS = 6; // of the text, in the title

/** The distribution that is drawn from, as model/decoding/sampling.py; the largest logit first. */
export function restrict(logits, never, { temperature, "top-k": k, "top-p": p }) {
  const shares = new Float64Array(logits.length);
  let left = temperature === 0 ? 1 : k || logits.length;
  let first = null;
  let sum = 0;
  for (let i = 0; i < logits.length && left > 0; i++) {
    if (never.includes(i)) continue;
    first ??= logits[i];
    shares[i] = Math.exp((logits[i] - first) / Math.max(temperature, 1e-30));
    sum += shares[i];
    left--;
  }
  let before = 0; // a word stays while those before it have not reached p
  let kept = 0;
  for (let i = 0; i < shares.length; i++) {
    const share = shares[i] / sum;
    shares[i] = p < 1 && before > p - 1e-6 ? 0 : share;
    before += share;
    kept += shares[i];
  }
  return Float32Array.from(shares, (share) => share / kept);
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const allFields = ({ next }) => [...next.fields, ...next.writing];

/** The chosen numbers, where there are such: of the address, or as they were. */
function restored({ told }, asked) {
  if (!told.next) return null;
  const number = ({ name, value, options, low, high }) => {
    const wanted = Number(asked[name] ?? asked.chance?.[name] ?? value);
    const can = options ? options.some(([code]) => Number(code) === wanted) : wanted >= low && wanted <= high;
    return [name, can ? wanted : Number(value)];
  };
  return { ...Object.fromEntries(allFields(told).map(number)), seed: told.next.seed ?? 0 };
}

function parameters({ told, state: { chance } }) {
  if (!told.next) return {};
  const own = ({ name, value }) => [name, chance[name] === Number(value) ? null : chance[name]];
  return Object.fromEntries(allFields(told).map(own).filter(([name]) => CHOSEN.includes(name)));
}

const open = ({ told, state }) => Boolean(told.next) && state.view === "words" && !state.picture;

function title(stage) {
  const { words, translation, target } = stage.told;
  if (!open(stage)) return null;
  const last = translation.split(" ");
  const end = last.length > MOST_WORDS ? `… ${last.slice(-MOST_WORDS).join(" ")}` : translation;
  return fill(words.after_text, { text: end || target.tokens[0] });
}

/** The same object for the same choices, so that it is drawn once. */
function shown(stage) {
  const { next, words, language } = stage.told;
  const { chance } = stage.state;
  const key = JSON.stringify(chance);
  if (next.made?.key === key) return next.made;
  const all = restrict(next.logits.values, next.never, chance);
  const given = Array.from(next.own.values);
  const drawn = Array.from(all.subarray(0, given.length));
  const numbers = [drawn.map((share) => share || null), drawn.map((share, i) => (share ? null : given[i])), given];
  const customdata = given.map((share, i) => [next.said[i], percent(share), percent(drawn[i])]);
  const data = next.look.data.map((trace, i) => ({ ...trace, x: numbers[i], customdata }));
  data[0].text = drawn.map(percent);
  const [left, total] = [all.filter((share) => share > 0), all].map(({ length }) => length.toLocaleString(language));
  const line = fill(words.can_be_drawn, {
    ...{ left, total, count: given.length },
    ...{ share: percent(sum(drawn)), own: percent(sum(given)) },
  });
  const table = [next.names, [data[2].name, data[0].name], given.map((share, i) => [share, drawn[i]])];
  next.options ??= next.fields.map((field) => ({ ...field, value: String(chance[field.name]) }));
  const choose = (names, value) => chosen(stage, names, value);
  const live = (name, value) => (set(stage, name, value), stage.render());
  return (next.made = { key, look: { ...next.look, data }, line, table, options: next.options, choose, live });
}

function set({ told, state }, names, value) {
  for (const { name, value: usual } of allFields(told))
    if ([names].flat().includes(name)) state.chance = { ...state.chance, [name]: Number(value ?? usual) };
}

/** A control has been let go; the server draws another continuation where there is one. */
function chosen(stage, names, value) {
  const { next } = stage.told;
  set(stage, names, value);
  if (value === null) next.options = null;
  stage.remember();
  if (next.seed !== null && stage.host.ask) stage.host.ask({ seed: stage.state.chance.seed });
  else stage.render();
}

function writing(stage) {
  const { next, words } = stage.told;
  if (!next || !stage.host.ask) return [];
  const { chance } = stage.state;
  const fresh = next.seed === null;
  const go = () => stage.host.ask({ seed: fresh ? chance.seed : (chance.seed + 1) % 10000 });
  const own = next.writing.map((field) => ({ ...field, value: chance[field.name] }));
  const draw = button("hl-chip", fresh ? words.go_on : words.again, go, { "data-testid": "stage-go-on" });
  return [draw, ...fields(own, (name, value) => chosen(stage, name, value))];
}

const text = ({ told: { next, translation } }) =>
  next?.continued ? [translation, el("span.hl-written", {}, next.continued)] : [];

export const sampling = { open, parameters, restored, shown, text, title, writing };
