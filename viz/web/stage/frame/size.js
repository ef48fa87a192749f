// How large the large picture is.

import { OF_ROWS } from "../main/view_names.js";

const LEAST = 270; // pixels that the large picture has at least, unless the message gives another number
const LOW = 200; // or of each of three
const LEAST_NARROW = 240; // or on a narrow page
const HIGHEST = 760;
const NARROW = 760; // pixels below which the page is one column, and the lens a table
const TILES = 124; // pixels of a window in which a narrow page shows that tiles follow under the picture
const ROW_TITLE = 32; // pixels of the titles of a row of pictures, and the gaps about them
export const BELOW = 34; // pixels of the line under the picture

/** Whether the page is one column. @param {import("../main/state.js").Open & {root: HTMLElement}} stage */
export const isNarrow = ({ root, message }) => (message.setting ? innerWidth : root.clientWidth) < NARROW;

/**
 * Size and font of the large picture: what is left of the window; on a narrow page at most as high as wide.
 * @param {import("../main/stage.js").Stage} stage
 * @param {import("../map/map.js").LargeMap} map
 */
export function surroundings(stage, map) {
  const { root, beside, message } = stage;
  const { color, fontFamily } = getComputedStyle(root);
  const width = Math.max(280, Math.floor(map.box.parentElement?.clientWidth || root.clientWidth));
  const top = root.getBoundingClientRect().top;
  if (top >= 0) stage.above = top; // unless the page is scrolled
  const inside = map.box.getBoundingClientRect().top - top + root.scrollTop;
  const below = message.setting && OF_ROWS.includes(stage.state.view) ? 2 * BELOW : BELOW; // that line is a long one
  const all = innerHeight - (stage.above ?? 150) - inside - below;
  const share = message.setting?.room ?? 1; // the rest is for the rows of pictures under it
  const room = Math.floor(share * (all - (1 / share - 1) * ROW_TITLE));
  const [least, most] = beside ? [LOW, Math.round(1.25 * width)] : [message.least ?? LEAST, HIGHEST];
  const fits = Math.max(least, Math.min(most, room));
  const height = isNarrow(stage) ? Math.max(LEAST_NARROW, Math.min(width, 560, all - TILES)) : fits;
  return { size: { width, height }, font: { color, family: fontFamily, size: stage.state.projector ? 18 : 12 } };
}
