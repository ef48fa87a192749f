// What is drawn large: look, numbers, size; as a table where it cannot be drawn.

import { dress, percent, setChildren } from "../frame/dom.js";
import { select } from "../frame/widgets.js";
import { form, table, tableOf } from "../frame/menus.js";
import { surroundings, isNarrow } from "../frame/size.js";
import { viewOf } from "../main/view.js";


/** @typedef {import("../../recording/message/types.js").Matrix} Matrix */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/view.js").View} View */

/**
 * The numbers of a picture.
 * @typedef {object} Numbers
 * @property {ArrayLike<number | null>[]} z
 * @property {string[] | null} [removed]  of each row what is said of hidden tokens
 * @property {Matrix | null} [complete]  without blank cells
 * @property {number | null} [top]  where colours end
 */

/**
 * Draws the picture of a part, unless a newer one is drawn by the time its numbers have come.
 * @param {Stage} stage
 * @param {import("../frame/elements.js").Part} part
 */
export async function draw(stage, part) {
  const { state, root, message, says } = stage;
  const { map } = part;
  const isMain = part === stage.part;
  const ticket = (part.ticket = {});
  const view = viewOf(stage, part);
  if (isMain) {
    choices(stage, view);
    dress(root, { tabled: state.table });
  }
  if (view?.isElsewhere && !state.table) return;
  const numbers = view && (await numbersOf(stage, view));
  if (!numbers || ticket !== part.ticket || part !== stage.parts[part.version]) return;
  map.grid?.remove();
  const isTable = state.table || (view.tabled && isNarrow(stage));
  const around = surroundings(stage, map);
  if (view.height && !message.setting) around.size.height = view.height;
  const isDrawn = !isTable && view.look && (await map.draw(view.look, numbers.z, { ...around, ...numbers }));
  if (!isTable && view.map) view.map.fetch(...view.map.open).catch(() => {}); // the other heads, meanwhile
  if (!isDrawn) {
    map.grid?.remove();
    map.grid = table(...map.window.table(tableOf(view, stage)));
    map.box.append(map.grid);
    dress(root, { tabled: true });
    if (!isTable) says.textContent = stage.say("no_plotly");
  } else if (isMain) {
    const rings = message.setting?.rings ?? [];
    if (rings.length) map.outline(rings, "ring#ring");
    else map.outline(stage.steering?.editedCells() ?? [], "edited");
  }
}

/** Shows the controls of a picture. @param {Stage} stage @param {View | null} view */
function choices(stage, view) {
  const { state, result, switches, places } = stage;
  const { views } = stage.beside ? stage.sides.after.result : result;
  const pictures = views[/** @type {keyof typeof views} */ (state.view)] ?? [];
  const several = pictures.filter((candidate) => !candidate.kind);
  const options = several.map((candidate, i) => [String(i), candidate.name ?? ""]);
  const pick = (/** @type {string} */ picture) => stage.choose({ picture: Number(picture) });
  const about = { "aria-label": stage.say("views") };
  if (stage.choice) stage.choice.remove();
  const choice = view?.choice ?? (several.length > 1 && select(options, String(state.picture), pick, about, ".pictures"));
  stage.choice = choice || null;
  if (stage.choice) places.views.append(stage.choice);
  switches.hidden = !view?.options;
  if (!view?.options || switches.of === view.options) return;
  switches.of = view.options; // the same controls stay: a slider may be in motion
  setChildren(switches, form(view.options, stage.words, view.choose ?? ((values) => stage.host.ask?.(values)), view.live));
}

/**
 * The numbers of a picture; null where they could not be fetched.
 * @param {Stage} stage
 * @param {View} view
 * @returns {Promise<Numbers | null>}
 */
async function numbersOf(stage, { map: kind, kind: code, z = [] }) {
  if (!kind) return { z: rowsUntil(stage, z, Boolean(code) && code !== "encoder_self") };
  const [layer, head] = kind.open;
  if (!kind.has(layer, head)) {
    stage.says.textContent = stage.say("loading");
    try {
      await kind.fetch(layer, head);
      if (String(kind.open) === String([layer, head])) stage.pointing.light(); // says what it could not say before
    } catch {
      stage.says.textContent = stage.say("failed");
      return null;
    }
  }
  const hiddenNote = (/** @type {number} */ share) => `<br>${stage.say("hidden", { share: percent(share) })}`;
  return {
    z: rowsUntil(stage, kind.map(layer, head), kind.steps),
    removed: kind.hidden ? Array.from(kind.hidden, hiddenNote) : null,
    complete: kind.visible ? kind.map(layer, head, true) : null,
    top: kind.stretch ? kind.largest[layer][head] || 1 : null,
  };
}

/**
 * Rows up to the step that the film has come to.
 * @param {Stage} stage
 * @param {ArrayLike<number>[]} z
 * @param {boolean} steps  whether rows are steps
 * @returns {ArrayLike<number>[]}
 */
function rowsUntil({ state: { step } }, z, steps) {
  if (step === null || !steps) return z;
  return z.map((row, i) => (i <= step ? row : new Float32Array(row.length).fill(NaN)));
}
