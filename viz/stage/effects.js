// Direct effects in place of weights: the switch, the pictures of who wrote a word, and what is said of them. They come
// with the message once they are asked for (viz/stage/effects.py); numbers are picked, not computed.

import { at, fill, largest, rows } from "./data.js";
import { decimals, el, tabs } from "./dom.js";

const NARROW = 760; // pixels below which panels stand one over the other, and the lens is a table
const TALL = 620; // pixels of the panels there
const MOST_HEADS = 6; // that the card names
const SIGNS = ["#a63603", "#08519c"]; // of lines: towards the word, away from it
const VIEWS = ["map", "parts", "lens", "left-out", "agree"];

/** The views of direct effects; where no server can be asked for them, those that are here. */
const views = (stage) =>
  stage.version === "difference"
    ? VIEWS.slice(0, 1)
    : VIEWS.filter((view) => here(stage, view) || (stage.host.ask && !stage.told.effects?.lacks?.includes(view)));

const here = ({ told }, view) => Boolean(told.effects?.[view === "map" ? "kinds" : view]);

/** Whether direct effects are to be shown, and what is told of the translation then. */
function applied(stage, told, wanted) {
  const { kinds, reason, code } = told.effects ?? {};
  const can = wanted === "effects" && !told.next && !reason && (kinds || stage.host.ask);
  if (!can || !kinds) return [can ? "effects" : "weights", told];
  const drawn = told.kinds.map((kind) => kinds[kind.code] ?? kind);
  return ["effects", { ...told, kinds: drawn, code: { ...told.code, ...code } }];
}

/** The switch between weights and effects; where there are none, it says why. */
function measures(stage) {
  const { words, effects, next } = stage.told;
  if (next) return [];
  if (!stage.kinds.size && !effects?.reason) return [];
  if (!stage.host.ask && !effects?.kinds) return [];
  const without = () => effects?.reason ?? (stage.kind?.code === "encoder_self" ? words["no effects"] : null);
  const marked = () => (stage.measure === "effects" && !without() ? "effects" : "weights");
  const pick = (measure) => {
    const reason = measure === "effects" && without();
    if (!reason) return stage.weigh(measure);
    bar.mark("weights");
    stage.says.textContent = reason;
  };
  const options = ["weights", "effects"].map((code) => [code, words[code]]);
  const bar = tabs(words.measures, "data-measure", options, marked(), pick, "stage-measure");
  if (without()) {
    const button = bar.bar.lastChild;
    button.setAttribute("aria-disabled", "true");
    button.title = without();
  }
  return [bar.bar];
}

/** Asks for what the chosen view shows, once; whether it is not here yet. */
function missing(stage) {
  const { told, state } = stage;
  if (here(stage, state.view)) return false;
  const key = JSON.stringify([stage.whole.stamp, state.view]);
  if (key !== stage.wanted) {
    stage.wanted = key;
    stage.host.ask({ measure: "effects", view: state.view });
  }
  stage.says.textContent = told.words["computing effects"];
  return true;
}

/** The step that is spoken of: of the pinned word, of the film, or the one that is worth most. */
function stepOf(stage) {
  const pinned = stage.pinned();
  return pinned?.[0] === "target" ? pinned[1] : (stage.state.step ?? stage.told.effects.step);
}

/** What is drawn large, as of Stage.shown. */
function shown(stage) {
  if (missing(stage)) return null;
  const { kind, state } = stage;
  const { effects } = stage.told;
  if (state.view === "map") return kind && { look: kind.look, kind, choice: kind.effect && against(stage) };
  if (state.view === "parts") return { ...word(stage, effects.parts), choice: against(stage) };
  return { tabled: ["lens", "agree"].includes(state.view), ...effects[state.view] };
}

/** Chooses what the logit of a word is compared with; the server computes it. */
function against(stage) {
  const { words, effects } = stage.told;
  if (!stage.host.ask) return null;
  const option = ([code, text]) => el("option", { value: code, selected: code === effects.against }, text);
  const select = el(
    "select",
    {
      class: "hl-pictures",
      "aria-label": words.against,
      "data-testid": "stage-against",
      onchange: () => stage.asks("against", select.value),
    },
    ...effects.choices.map(option),
  );
  return select;
}

/** What the card says of all pictures of effects, and of the one that is shown. */
function note(stage) {
  const { effects } = stage.told;
  if (stage.measure !== "effects" || !effects?.notes) return [];
  return [effects.notes[stage.state.view] ?? effects.notes.map];
}

/** Who wrote a word: the same object for the same word, so that it is drawn once. */
function word(stage, parts) {
  const step = stepOf(stage);
  const narrow = stage.root.clientWidth < NARROW;
  parts.made ??= new Map();
  const key = `${step} ${narrow}`;
  if (!parts.made.has(key)) {
    const data = parts.look.data.map((trace, i) => {
      const [axis, { values, shape }] = parts.values[i];
      const size = values.length / shape[0];
      const own = values.subarray(step * size, (step + 1) * size);
      const table = shape.length > 2 && rows(parts.values[i][1], step).map((row) => Array.from(row));
      return { ...trace, [axis]: table || Array.from(own) };
    });
    const look = { data, layout: parts.layouts[Number(narrow)], hover: null };
    const table = [parts.names, [""], Array.from(data[0].x, (value) => [value]), ""];
    parts.made.set(key, { look, line: parts.lines[step], table, height: narrow ? TALL : null });
  }
  return parts.made.get(key);
}

/** The title of a picture that is not of one head; null where it is. */
function title(stage) {
  const { words, target } = stage.told;
  const { view } = stage.state;
  if (view === "map") return null;
  if (view === "parts" && stage.told.effects?.parts) return fill(words.who, { token: target.tokens[stepOf(stage)] });
  return words[view];
}

const signed = (value) => `${value > 0 ? "+" : ""}${decimals(value, 2)}`;

/** The one line under a map of effects. */
function line(kind, words, map, lit) {
  const by = (numbers) => largest(numbers.map(Math.abs));
  if (lit.row < 0 && lit.column >= 0) {
    const query = by(map.map((row) => row[lit.column]));
    const weight = signed(map[query][lit.column]);
    return fill(words.added, { key: kind.keys[lit.column], query: kind.queries[query], weight });
  }
  const row = lit.row >= 0 ? lit.row : at(kind.told, ...kind.open);
  const key = by(map[row]);
  const text = Math.abs(map[row][key]) < 0.005 ? words["adds nothing"] : words.adds;
  return fill(text, { query: kind.queries[row], key: kind.keys[key], weight: signed(map[row][key]) });
}

/** A map of effects as the lines between the words: those towards the word and those away from it, on a scale to 1. */
function lines(kind, map) {
  return SIGNS.map((colour, away) => ({
    rows: map.map((row) => row.map((value) => Math.max(0, (away ? -value : value) / kind.limit))),
    colour,
  }));
}

/** Tints every tile by what its head did for a row, over all keys; not at all where no row is lit. */
function tint(stage, row) {
  const { kind, tiles } = stage;
  const on = Boolean(kind?.did) && row >= 0;
  tiles.box.classList.toggle("hl-tinted", on);
  for (const { layer, head, cell } of tiles.cells) {
    if (!on) {
      cell.style.removeProperty("background");
      continue;
    }
    const { values, shape } = kind.colours;
    const share = (1 + at(kind.did, layer, head, row) / kind.most) / 2;
    const colour = 3 * Math.round(share * (shape[0] - 1));
    cell.style.background = `rgb(${values.subarray(colour, colour + 3).join(" ")})`;
  }
}

/** The heads that did most for a row, to be opened. */
function strongest(stage, row) {
  const { kind } = stage;
  const { words } = stage.told;
  if (row < 0 || !kind.did || !kind.weights) return [];
  const found = [];
  for (let layer = 0; layer < kind.layers[0]; layer++)
    for (let head = 0; head < kind.layers[1]; head++) {
      const keys = kind.map(layer, head, true)[row].map(Math.abs);
      found.push([at(kind.did, layer, head, row), layer, head, kind.keys[largest(keys)]]);
    }
  found.sort((one, other) => Math.abs(other[0]) - Math.abs(one[0]));
  const heads = found.slice(0, MOST_HEADS).map(([did, layer, head, key]) => {
    const text = fill(words.link, { layer, head, key, weight: signed(did) });
    return el("button", { type: "button", class: "hl-plain", onclick: () => stage.open(layer, head) }, text);
  });
  return [el("p", {}, fill(words.adding, { query: kind.queries[row] })), el("div", { class: "hl-links" }, ...heads)];
}

export const effects = { applied, line, lines, measures, note, shown, stepOf, strongest, tint, title, views };
