// What is drawn large: which look and which numbers, in what size; as a table where it cannot be drawn.

import { at, fill } from "./data.js";
import { decimals, el } from "./dom.js";
import { form, table } from "./menus.js";
import { candidates } from "./telling.js";

const LOWEST = 362; // pixels that the large picture has at least
const STEERED = 290; // the same where there are more controls above it
const HIGHEST = 760;
const NARROW = 760; // pixels below which the page is one column
const SET = 200; // the same on a page that sets the stage, which has to fit into the window
const BELOW = 34; // pixels of the line under the picture

/** Draws what is chosen; what is no longer wanted when its numbers have come is left. */
export async function draw(stage) {
  const { state, told } = stage;
  const view = stage.shown();
  choices(stage, view);
  stage.root.classList.toggle("hl-tabled", Boolean(state.table));
  if (!view) return;
  const numbers = await numbersOf(stage, view);
  if (!numbers?.z || view.look !== stage.shown()?.look) return;
  if (state.table || (view.tabled && isNarrow(stage))) {
    asTable(stage, stage.map, view, told);
    return;
  }
  const around = surroundings(stage);
  if (view.height && !stage.whole.setting) around.size.height = view.height;
  const drawn = await stage.map.draw(view.look, numbers.z, { ...around, ...numbers });
  if (view.kind?.code) view.kind.fetch().catch(() => {}); // the other heads, while this one is looked at
  stage.map.grid?.remove();
  if (drawn) stage.steering?.outline();
  if (drawn) stage.map.ring(stage.whole.setting?.ring);
  if (!drawn) {
    asTable(stage, stage.map, view, told);
    stage.says.textContent = told.words["no plotly"];
  }
}

/** Draws the same picture of the translation beside it. */
export async function drawBeside(stage, map, told, kind) {
  const view = stage.shown(told, kind);
  const numbers = view && (await numbersOf(stage, view));
  if (!numbers?.z || map === stage.map) return;
  if (stage.state.table) {
    asTable(stage, map, view, told);
    return;
  }
  map.grid?.remove();
  await map.draw(view.look, numbers.z, { ...surroundings(stage, map), ...numbers });
}

/** What a view lets choose beside the tabs: one of several pictures, or what is done differently in a row. */
function choices(stage, view) {
  const { state, told } = stage;
  const { views } = stage.beside ? stage.whole : told;
  const several = views[state.view]?.filter((one) => !one.kind) ?? [];
  stage.pictures?.remove();
  if (several.length > 1) {
    stage.pictures = el(
      "select",
      {
        class: "hl-pictures",
        "aria-label": told.words.views,
        onchange: (event) => stage.choose({ picture: event.target.selectedIndex }),
      },
      ...several.map((one, i) => el("option", { selected: i === state.picture }, one.name)),
    );
    stage.viewsPlace.append(stage.pictures);
  }
  if (view?.choice) stage.viewsPlace.append((stage.pictures = view.choice));
  stage.switches.hidden = !view?.options;
  if (stage.switches.hidden || stage.switches.of === view.options) return;
  stage.switches.of = view.options; // the same ones stay: one of them may be moved
  stage.switches.replaceChildren(...form(view.options, told.words, view.choose ?? stage.asks, view.live));
}

/** The numbers of a picture as rows, and what depends on the head: where its colours end, what is hidden. */
async function numbersOf(stage, view) {
  const { kind } = view;
  if (!kind?.code)
    return { z: view.z ? written(stage, rowsOf(view.z), view.kind !== "encoder_self" && view.kind) : [] };
  const [layer, head] = kind.open;
  const { words } = stage.told;
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

/** Rows of steps that are not written yet are left blank. */
function written(stage, z, steps) {
  const { step } = stage.state;
  if (step === null || !steps) return z;
  return z.map((row, i) => (i <= step ? row : new Float32Array(row.length).fill(NaN)));
}

/** Whether the page is one column; on one that sets the stage that stands in one. */
function isNarrow({ root, whole }) {
  return (whole.setting ? innerWidth : root.clientWidth) < NARROW;
}

/** Size and font: what is left of the window below the picture's upper edge; on a narrow page as high as wide. */
function surroundings(stage, map = stage.map) {
  const { root } = stage;
  const { color, fontFamily } = getComputedStyle(root);
  const width = Math.max(280, Math.floor(map.box.parentElement.clientWidth));
  const top = root.getBoundingClientRect().top;
  if (top >= 0) stage.above = top; // unless the page is scrolled
  const inside = map.box.getBoundingClientRect().top - top + root.scrollTop;
  const below = stage.whole.setting ? 2 * BELOW : BELOW; // there the line must not push anything out of the window
  const left = Math.floor(innerHeight - (stage.above ?? 150) - inside - below);
  const least = stage.whole.setting ? SET : stage.steering || stage.beside ? STEERED : LOWEST;
  const most = stage.beside ? width : HIGHEST;
  const narrow = isNarrow(stage);
  const height = narrow ? Math.max(320, Math.min(width, 560)) : Math.max(least, Math.min(most, left));
  return { size: { width, height }, font: { color, family: fontFamily, size: stage.state.projector ? 18 : 12 } };
}

/** The numbers of a picture as a table in its place. */
function asTable(stage, map, view, told) {
  const { kind } = view;
  const { words } = told;
  map.grid?.remove();
  if (kind?.code) {
    map.grid = table(kind.queries, kind.keys, kind.map(...kind.open, true), `${words.query} / ${words.key}`);
  } else if (view.table) {
    map.grid = table(...view.table);
  } else if (stage.state.view === "words") {
    map.grid = table(...candidates(told));
  } else {
    const rows = view.z ? rowsOf(view.z) : [];
    map.grid = table(
      rows.map((_, i) => String(i)),
      Array.from(rows[0] ?? [], (_, j) => String(j)),
      rows,
      "",
    );
  }
  map.box.append(map.grid);
  stage.root.classList.add("hl-tabled");
}

/** Rows of a two-dimensional array of a message. */
function rowsOf({ values, shape }) {
  return Array.from({ length: shape[0] }, (_, i) => values.subarray(i * shape[1], (i + 1) * shape[1]));
}
