// Direct effects in place of weights, which come with the message once they are asked for (viz/stage/effects.py).

import { fill } from "./data.js";
import { dress, select, tabs } from "./dom.js";

const NARROW = 760; // pixels below which panels stand one over the other, and the lens is a table
const TALL = 620; // pixels of the panels there
const SIGNS = ["#a63603", "#08519c"]; // of lines: towards the word, away from it
const VIEWS = ["map", "parts", "lens", "left-out", "agree"];

const here = ({ told }, view) => Boolean(told.effects?.[view === "map" ? "kinds" : view]);

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
  if (next || (!stage.kinds.size && !reason) || (!stage.host.ask && !kinds)) return null;
  const without = reason ?? (stage.kind?.code === "encoder_self" ? words.no_effects : null);
  const pick = (change) => {
    if (change.measure === "weights" || !without) return stage.turn(change);
    bar.mark("weights");
    stage.says.textContent = without;
  };
  const chosen = without ? "weights" : stage.measure;
  const bar = tabs(words, "measure", "measure", ["weights", "effects"], chosen, pick);
  if (without) {
    bar.lastChild.ariaDisabled = true;
    bar.lastChild.title = without;
  }
  return bar;
}

/** The step of the pinned word, of the film, or the one that is worth most. */
function stepOf(stage) {
  const pinned = stage.pinned();
  return pinned?.[0] === "target" ? pinned[1] : (stage.state.step ?? stage.told.effects.step);
}

function shown(stage) {
  const { kind, state, host } = stage;
  const { effects, words } = stage.told;
  const { view } = state;
  if (!here(stage, view)) return stage.wait({ measure: "effects", view });
  if (view !== "map" && view !== "parts") return { tabled: view !== "left-out", ...effects[view] };
  if (view === "map" && !kind) return null;
  const pick = (against) => host.ask({ against });
  const about = { "aria-label": words.against };
  const can = host.ask && effects.choices;
  const choice = can && select(effects.choices, effects.against, pick, about, ".pictures#against");
  if (view === "map") return { look: kind.look, kind, choice: kind.effect && choice };
  return { ...word(stage, effects.parts), choice };
}

function note({ measure, told, state }) {
  const notes = measure === "effects" && told.effects?.notes;
  return notes && (notes[state.view] ?? notes.map);
}

/** The same object for the same word, so that it is drawn once. */
function word(stage, parts) {
  const step = stepOf(stage);
  const narrow = stage.root.clientWidth < NARROW;
  const made = () => {
    const drawn = parts.values.map(([axis, steps], i) => ({ ...parts.look.data[i], [axis]: steps[step] }));
    const look = { data: drawn, layout: parts.layouts[Number(narrow)], hover: null };
    const table = [parts.names, [""], Array.from(drawn[0].x, (value) => [value])];
    return { look, line: parts.lines[step], table, height: narrow ? TALL : null };
  };
  parts.made ??= {};
  return (parts.made[`${step} ${narrow}`] ??= made());
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
  const on = kind?.did && row >= 0;
  dress(tiles.box, { tinted: on });
  for (const { layer, head, cell } of tiles.cells) {
    const colour = () => Math.round(((1 + kind.did[layer][head][row] / kind.most) / 2) * (kind.colours.length - 1));
    cell.style.background = on ? `rgb(${kind.colours[colour()].join(" ")})` : "";
  }
}

export const effects = { applied, lines, measures, note, shown, stepOf, tint, title, views };
