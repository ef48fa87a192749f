// What is drawn large: which look and which numbers, in what size; as a table where it cannot be drawn.

import { at, fill, rows } from "./data.js";
import { decimals, select } from "./dom.js";
import { form, table, tableOf } from "./menus.js";

const LOWEST = 362; // pixels that the large picture has at least
const STEERED = 290; // the same where there are more controls above it
const SET = 200; // the same on a page that sets the stage, which has to fit into the window
const HIGHEST = 760;
const NARROW = 760; // pixels below which the page is one column
const BELOW = 34; // pixels of the line under the picture

/** Draws what is chosen; what is no longer wanted when its numbers have come is left. */
export async function draw(stage, map = stage.map, told = stage.told, kind = stage.kind) {
  const { state, root, whole } = stage;
  const own = map === stage.map;
  const view = stage.shown(told, kind);
  if (own) {
    choices(stage, view);
    root.classList.toggle("hl-tabled", Boolean(state.table));
  }
  const numbers = view && (await numbersOf(stage, view));
  if (!numbers?.z || own !== (map === stage.map) || (own && view.look !== stage.shown()?.look)) return;
  map.grid?.remove();
  const tabled = state.table || (view.tabled && isNarrow(stage));
  const around = surroundings(stage, map);
  if (view.height && !whole.setting) around.size.height = view.height;
  const drawn = !tabled && (await map.draw(view.look, numbers.z, { ...around, ...numbers }));
  if (!tabled && view.kind?.code) view.kind.fetch().catch(() => {}); // the other heads, while this one is looked at
  if (!drawn) {
    map.grid?.remove();
    map.grid = table(...tableOf(view, told));
    map.box.append(map.grid);
    root.classList.add("hl-tabled");
    if (!tabled) stage.says.textContent = told.words.no_plotly;
  } else if (own) {
    stage.steering?.outline();
    map.ring(whole.setting?.ring);
  }
}

/** Chooses one of several pictures, or what is done differently in a row. */
function choices(stage, view) {
  const { state, told, switches } = stage;
  const { views } = stage.beside ? stage.whole : told;
  const several = views[state.view]?.filter((one) => !one.kind) ?? [];
  const named = several.map((one, i) => [String(i), one.name]);
  const pick = (picture) => stage.choose({ picture: Number(picture) });
  const about = { class: "hl-pictures", "aria-label": told.words.views };
  const choice = view?.choice ?? (several.length > 1 && select(named, String(state.picture), pick, about));
  stage.pictures?.remove();
  stage.pictures = choice || null;
  if (choice) stage.places.views.append(choice);
  switches.hidden = !view?.options;
  if (switches.hidden || switches.of === view.options) return;
  switches.of = view.options; // the same ones stay: one of them may be moved
  switches.replaceChildren(...form(view.options, told.words, view.choose ?? stage.asks, view.live));
}

/** Rows of numbers, and what depends on the head: where colours end, what is hidden. */
async function numbersOf(stage, { kind, z }) {
  const { words } = stage.told;
  if (!kind?.code) return { z: z ? written(stage, rows(z), kind !== "encoder_self" && kind) : [] };
  const [layer, head] = kind.open;
  if (!kind.has(layer, head)) {
    stage.says.textContent = words.loading;
    try {
      await kind.fetch();
    } catch {
      stage.says.textContent = words.failed;
      return null;
    }
    const shown = stage.kind === kind || stage.beside?.holds(kind);
    if (!shown || kind.open[0] !== layer || kind.open[1] !== head) return null;
  }
  const share = (row) => `${decimals(100 * at(kind.removed, layer, head, row), 1)} %`;
  return {
    z: written(stage, kind.map(layer, head), kind.steps),
    removed: kind.removed && kind.queries.map((_, row) => `<br>${fill(words.hidden, { share: share(row) })}`),
    whole: kind.shown ? kind.map(layer, head, true) : null,
    top: kind.stretch ? at(kind.largest, layer, head) || 1 : null,
  };
}

function written({ state: { step } }, z, steps) {
  if (step === null || !steps) return z;
  return z.map((row, i) => (i <= step ? row : new Float32Array(row.length).fill(NaN)));
}

/** Whether the page is one column; on one that sets the stage that stands in one. */
const isNarrow = ({ root, whole }) => (whole.setting ? innerWidth : root.clientWidth) < NARROW;

/** Size and font: what is left of the window; on a narrow page as high as wide. */
function surroundings(stage, map) {
  const { root, beside, whole } = stage;
  const { color, fontFamily } = getComputedStyle(root);
  const width = Math.max(280, Math.floor(map.box.parentElement.clientWidth));
  const top = root.getBoundingClientRect().top;
  if (top >= 0) stage.above = top; // unless the page is scrolled
  const inside = map.box.getBoundingClientRect().top - top + root.scrollTop;
  const below = whole.setting ? 2 * BELOW : BELOW; // there the line must not push anything out of the window
  const left = Math.floor(innerHeight - (stage.above ?? 150) - inside - below);
  const least = whole.setting ? SET : stage.steering || beside ? STEERED : LOWEST;
  const fits = Math.max(least, Math.min(beside ? width : HIGHEST, left));
  const height = isNarrow(stage) ? Math.max(320, Math.min(width, 560)) : fits;
  return { size: { width, height }, font: { color, family: fontFamily, size: stage.state.projector ? 18 : 12 } };
}
