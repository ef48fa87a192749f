// What the stage says: the line under the picture, and the card under the tiles. Numbers are picked, not computed.

import { at, fill, largest } from "./data.js";
import { decimals, el } from "./dom.js";
import { effects } from "./effects.js";

const MOST_HEADS = 6; // that the card of a pinned word names

const percent = (share) => `${decimals(100 * share, 1)} %`;

/** The line under the picture: what there is to see. */
export function line(stage, lit) {
  const { kind, state } = stage;
  const { words } = stage.told;
  const view = stage.shown();
  if (!view || !kind) return null;
  const step = lit.token ? (lit.token[0] === "target" ? lit.token[1] : -1) : lit.row;
  if (state.view !== "map") return view.lines?.[step < 0 ? effects.stepOf(stage) : step] ?? view.line ?? "";
  const [layer, head] = kind.open;
  if (!kind.has(layer, head)) return null;
  const map = kind.map(layer, head, true);
  if (kind.effect) return effects.line(kind, words, map, lit);
  if (lit.row < 0 && lit.column >= 0) {
    const query = largest(map.map((row) => row[lit.column]));
    return fill(words.attended, {
      key: kind.keys[lit.column],
      query: kind.queries[query],
      weight: decimals(map[query][lit.column], 2),
    });
  }
  const row = lit.row >= 0 ? lit.row : at(kind.told, layer, head);
  if (kind.signed) return changed(kind, words, row, map[row]);
  const key = largest(map[row]);
  const text = map[row][key] > 0 ? words.attends : words.empty;
  return fill(text, { query: kind.queries[row], key: kind.keys[key], weight: decimals(map[row][key], 2) });
}

/** Where a row of differences differs most. */
function changed(kind, words, row, change) {
  const key = largest(change.map(Math.abs));
  const weight = `${change[key] > 0 ? "+" : ""}${decimals(change[key], 2)}`;
  if (Math.abs(change[key]) < 0.005) return words["no change"];
  return fill(words["changed most"], { query: kind.queries[row], key: kind.keys[key], weight });
}

/** The card under the tiles: a head that is pointed at, else the pinned word, else the opened head. */
export function card(stage, place) {
  const { kind, told } = stage;
  const { words } = told;
  const pinned = stage.filmed() ?? stage.pinned();
  const parts = [];
  if (!place && pinned?.[0] === "target" && told.target.probability) {
    parts.push(...writing(told, pinned[1]));
  } else if (kind) {
    const [layer, head] = place ?? kind.open;
    const named = kind.single ? { layer, head } : { layer: kind.layerNames[layer], head: kind.headNames[head] };
    if (place || !stage.beside) parts.push(fill(words.tile, { title: kind.title, ...named }));
    const role = kind.roles?.[layer][head];
    if (role) parts.push(fill(words.role, { role }));
    if (kind.entropy) parts.push(fill(words.entropy, { entropy: decimals(at(kind.entropy, layer, head), 2) }));
    if (!kind.signed) parts.push(fill(words.largest, { weight: decimals(at(kind.largest, layer, head), 2) }));
    if (kind.measured) parts.push(kind.measured[layer][head]);
    if (!pinned && !place) parts.push(words.pick);
  }
  if (kind?.said) parts.push(kind.said[kind.open[0]][kind.open[1]]);
  const said = (texts) => texts.map((text) => el("p", {}, text));
  return [...said(parts), ...(place ? [] : [...strongest(stage), ...said(effects.note(stage))])];
}

/** How probable a written word was, and what else could have been written. */
function writing({ words, target }, place) {
  const token = target.tokens[place];
  const index = place - target.late; // the step that wrote it, where it is not the one that read it
  if (index < 0) return [];
  const said = [fill(words.written, { token, probability: percent(target.probability.values[index]) })];
  if (target.entropy) said.push(fill(words.undecided, { entropy: decimals(target.entropy.values[index], 2) }));
  const others = (target.candidates[index] ?? []).filter(([name]) => name !== token);
  if (others.length) {
    said.push(fill(words.instead, { others: others.map(([name, p]) => `${name} ${percent(p)}`).join(" · ") }));
  }
  return said;
}

/** Which heads link the pinned word to another one most, to be opened; where one was pointed at, to that one. */
function strongest(stage) {
  const { kind } = stage;
  const { words } = stage.told;
  const pinned = stage.pinned();
  if (kind?.effect) return effects.strongest(stage, pinned ? stage.lines.of(...pinned).row : -1);
  const row = kind?.weights && !kind.signed && pinned ? stage.lines.of(...pinned).row : -1;
  if (row < 0) return [];
  const partner = stage.partner ? stage.lines.of(...stage.partner).column : -1;
  const found = [];
  for (let layer = 0; layer < kind.layers[0]; layer++) {
    for (let head = 0; head < kind.layers[1]; head++) {
      const weights = kind.map(layer, head, true)[row];
      const key = partner >= 0 ? partner : largest(weights);
      const own = kind.code === "encoder_self" && key === row;
      if (partner >= 0 || (!own && !kind.dull[key])) found.push([weights[key], layer, head, key]);
    }
  }
  if (!found.length) return [];
  found.sort((one, other) => other[0] - one[0]);
  const heads = found
    .slice(0, MOST_HEADS)
    .map(([weight, layer, head, key]) =>
      el(
        "button",
        { type: "button", class: "hl-plain", onclick: () => stage.open(layer, head) },
        fill(words.link, { layer, head, key: kind.keys[key], weight: decimals(weight, 2) }),
      ),
    );
  return [el("p", {}, fill(words.strongest, { query: kind.queries[row] })), el("div", { class: "hl-links" }, ...heads)];
}

/** The candidates of every step as a table: names of the rows and of the columns, and texts. */
export function candidates({ words, target }) {
  const ranks = (target.candidates[0] ?? []).map((_, rank) => String(rank + 1));
  const rows = target.candidates.map((row, i) => [
    percent(target.probability.values[i]),
    ...row.map(([name, p]) => `${name} ${percent(p)}`),
  ]);
  return [target.tokens, [words.probability, ...ranks], rows, words.word];
}
