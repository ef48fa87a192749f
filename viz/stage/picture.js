// What is drawn large: look, numbers, size; as a table where it cannot be drawn.
// @ts-nocheck

import { dress, percent, put } from "./dom.js";
import { select } from "./widgets.js";
import { form, table, tableOf } from "./menus.js";

const LOWEST = 362; // pixels that the large picture has at least
const STEERED = 290; // the same below more controls
const SET = 200; // the same on a page that sets the stage
const HIGHEST = 760;
const NARROW = 760; // pixels below which the page is one column, and the lens a table
const BELOW = 34; // pixels of the line under the picture

/** Draws what is chosen in a part, unless something newer is drawn when its numbers have come. */
export async function draw(stage, part) {
  const { state, root, whole, says } = stage;
  const { map, told } = part;
  const own = part === stage.part;
  const ticket = (part.ticket = {});
  const view = stage.shown(part);
  if (own) {
    choices(stage, view);
    dress(root, { tabled: state.table });
  }
  const numbers = view && (await numbersOf(stage, view));
  if (!numbers || ticket !== part.ticket || part !== stage.parts[part.version]) return;
  map.grid?.remove();
  const tabled = state.table || (view.tabled && isNarrow(stage));
  const around = surroundings(stage, map);
  if (view.height && !whole.setting) around.size.height = view.height;
  const drawn = !tabled && (await map.draw(view.look, numbers.z, { ...around, ...numbers }));
  if (!tabled && view.kind?.code) view.kind.fetch(...view.kind.open).catch(() => {}); // the others, meanwhile
  if (!drawn) {
    map.grid?.remove();
    map.grid = table(...map.window.table(tableOf(view, stage)));
    map.box.append(map.grid);
    dress(root, { tabled: true });
    if (!tabled) says.textContent = stage.say("no_plotly");
  } else if (own) {
    const ring = whole.setting?.ring;
    map.outline(ring ? [ring] : (stage.steering?.edited() ?? []), ring ? "ring#ring" : "edited");
  }
}

function choices(stage, view) {
  const { state, told, switches, places } = stage;
  const { views } = stage.beside ? stage.sides.after.told : told;
  const several = views[state.view]?.filter((one) => !one.kind) ?? [];
  const named = several.map((one, i) => [String(i), one.name]);
  const pick = (picture) => stage.choose({ picture: Number(picture) });
  const about = { "aria-label": stage.say("views") };
  if (stage.choice) stage.choice.remove();
  stage.choice = view?.choice ?? (several.length > 1 && select(named, String(state.picture), pick, about, ".pictures"));
  if (stage.choice) places.views.append(stage.choice);
  switches.hidden = !view?.options;
  if (switches.hidden || switches.of === view.options) return;
  switches.of = view.options; // the same ones stay: one of them may be moved
  put(switches, form(view.options, stage.words, view.choose ?? stage.host.ask, view.live));
}

/** Rows of numbers, where colours end, what is hidden. */
async function numbersOf(stage, { kind, z = [] }) {
  if (!kind?.code) return { z: written(stage, z, kind && kind !== "encoder_self") };
  const [layer, head] = kind.open;
  if (!kind.has(layer, head)) {
    stage.says.textContent = stage.say("loading");
    try {
      await kind.fetch(layer, head);
      if (String(kind.open) === String([layer, head])) stage.light(); // says what it could not say before
    } catch {
      stage.says.textContent = stage.say("failed");
      return null;
    }
  }
  const removed = (share) => `<br>${stage.say("hidden", { share: percent(share) })}`;
  return {
    z: written(stage, kind.map(layer, head), kind.steps),
    removed: kind.hidden && Array.from(kind.hidden, removed),
    whole: kind.shown ? kind.map(layer, head, true) : null,
    top: kind.stretch ? kind.largest[layer][head] || 1 : null,
  };
}

function written({ state: { step } }, z, steps) {
  if (step === null || !steps) return z;
  return z.map((row, i) => (i <= step ? row : new Float32Array(row.length).fill(NaN)));
}

export const isNarrow = ({ root, whole }) => (whole.setting ? innerWidth : root.clientWidth) < NARROW;

/** Size and font: what is left of the window; on a narrow page as high as wide. */
function surroundings(stage, map) {
  const { root, beside, whole } = stage;
  const { color, fontFamily } = getComputedStyle(root);
  const width = Math.max(280, Math.floor(map.box.parentElement.clientWidth));
  const top = root.getBoundingClientRect().top;
  if (top >= 0) stage.above = top; // unless the page is scrolled
  const inside = map.box.getBoundingClientRect().top - top + root.scrollTop;
  const below = whole.setting ? 2 * BELOW : BELOW; // the line must not push anything out
  const left = Math.floor(innerHeight - (stage.above ?? 150) - inside - below);
  const least = whole.setting ? SET : stage.steering || beside ? STEERED : LOWEST;
  const fits = Math.max(least, Math.min(beside ? width : HIGHEST, left));
  const height = isNarrow(stage) ? Math.max(320, Math.min(width, 560)) : fits;
  return { size: { width, height }, font: { color, family: fontFamily, size: stage.state.projector ? 18 : 12 } };
}
