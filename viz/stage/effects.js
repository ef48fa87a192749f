// Direct effects in place of weights: the switch, the pictures of who wrote a word, and what is said of them. They come
// with the message once they are asked for (viz/stage/effects.py); numbers are picked, not computed.

import { at, fill, rows } from "./data.js";
import { select, tabs } from "./dom.js";

const NARROW = 760; // pixels below which panels stand one over the other, and the lens is a table
const TALL = 620; // pixels of the panels there
const SIGNS = ["#a63603", "#08519c"]; // of lines: towards the word, away from it
const VIEWS = ["map", "parts", "lens", "left-out", "agree"];

const here = ({ told }, view) => Boolean(told.effects?.[view === "map" ? "kinds" : view]);

/** Where no server can be asked, only those that are here. */
const views = (stage) =>
  stage.version === "difference"
    ? ["map"]
    : VIEWS.filter((view) => here(stage, view) || (stage.host.ask && !stage.told.effects?.lacks?.includes(view)));

/** Whether direct effects are to be shown, and what is told of the translation then. */
function applied(stage, told, wanted) {
  const { kinds, reason, code } = told.effects ?? {};
  const can = wanted === "effects" && !told.next && !reason && (kinds || stage.host.ask);
  if (!can || !kinds) return [can ? "effects" : "weights", told];
  const drawn = told.kinds.map((kind) => kinds[kind.code] ?? kind);
  return ["effects", { ...told, kinds: drawn, code: { ...told.code, ...code } }];
}

/** The switch between weights and effects; without effects it says why. */
function measures(stage) {
  const { words, effects, next } = stage.told;
  const { reason, kinds } = effects ?? {};
  if (next || (!stage.kinds.size && !reason) || (!stage.host.ask && !kinds)) return [];
  const without = reason ?? (stage.kind?.code === "encoder_self" ? words.no_effects : null);
  const pick = (measure) => {
    if (measure === "weights" || !without) return stage.weigh(measure);
    mark("weights");
    stage.says.textContent = without;
  };
  const options = ["weights", "effects"].map((code) => [code, words[code]]);
  const chosen = without ? "weights" : stage.measure;
  const { bar, mark } = tabs(words.measures, "data-measure", options, chosen, pick, "stage-measure");
  if (without) {
    bar.lastChild.setAttribute("aria-disabled", "true");
    bar.lastChild.title = without;
  }
  return [bar];
}

/** The step of the pinned word, of the film, or the one that is worth most. */
function stepOf(stage) {
  const pinned = stage.pinned();
  return pinned?.[0] === "target" ? pinned[1] : (stage.state.step ?? stage.told.effects.step);
}

/** As Stage.shown. */
function shown(stage) {
  const { kind, state, host } = stage;
  const { effects, words } = stage.told;
  const { view } = state;
  if (!here(stage, view)) return stage.wait(view, { measure: "effects", view });
  if (view !== "map" && view !== "parts") return { tabled: view !== "left-out", ...effects[view] };
  if (view === "map" && !kind) return null;
  const about = { "aria-label": words.against, "data-testid": "stage-against", class: "hl-pictures" };
  const against = (code) => stage.asks("against", code);
  const choice = host.ask && effects.choices && select(effects.choices, effects.against, against, about);
  if (view === "map") return { look: kind.look, kind, choice: kind.effect && choice };
  return { ...word(stage, effects.parts), choice };
}

/** What the card says of the picture. */
function note(stage) {
  const notes = stage.measure === "effects" && stage.told.effects?.notes;
  return notes ? [notes[stage.state.view] ?? notes.map] : [];
}

/** The same object for the same word, so that it is drawn once. */
function word(stage, parts) {
  const step = stepOf(stage);
  const narrow = stage.root.clientWidth < NARROW;
  const key = `${step} ${narrow}`;
  parts.made ??= {};
  if (!parts.made[key]) {
    const data = parts.look.data.map((trace, i) => {
      const [axis, array] = parts.values[i];
      if (array.shape.length > 2) return { ...trace, [axis]: rows(array, step) };
      return { ...trace, [axis]: Array.from(rows(array)[step]) };
    });
    const look = { data, layout: parts.layouts[Number(narrow)], hover: null };
    const table = [parts.names, [""], data[0].x.map((value) => [value])];
    parts.made[key] = { look, line: parts.lines[step], table, height: narrow ? TALL : null };
  }
  return parts.made[key];
}

/** The title of a picture that is not of one head; null where it is. */
function title(stage) {
  const { words, target, effects } = stage.told;
  const { view } = stage.state;
  if (stage.measure !== "effects" || view === "map") return null;
  return view === "parts" && effects?.parts ? fill(words.who, { token: target.tokens[stepOf(stage)] }) : words[view];
}

/** A map as lines: those towards the word and those away from it, on a scale to 1. */
const lines = (kind, map) =>
  SIGNS.map((colour, away) => ({
    rows: map.map((row) => row.map((value) => Math.max(0, (away ? -value : value) / kind.limit))),
    colour,
  }));

/** Tints every tile by what its head did for the lit row, over all keys. */
function tint({ kind, tiles }, row) {
  const on = Boolean(kind?.did) && row >= 0;
  tiles.box.classList.toggle("hl-tinted", on);
  for (const { layer, head, cell } of tiles.cells) {
    cell.style.background = "";
    if (!on) continue;
    const { values, shape } = kind.colours;
    const share = (1 + at(kind.did, layer, head, row) / kind.most) / 2;
    const colour = 3 * Math.round(share * (shape[0] - 1));
    cell.style.background = `rgb(${values.subarray(colour, colour + 3).join(" ")})`;
  }
}

export const effects = { applied, lines, measures, note, shown, stepOf, tint, title, views };
