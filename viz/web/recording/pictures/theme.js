// Colours and sizes of pictures: those of viz/theme.py (a test holds both equal).

export const SEQUENTIAL = [
  [0, "#440154"],
  [1 / 9, "#482878"],
  [2 / 9, "#3e4989"],
  [3 / 9, "#31688e"],
  [4 / 9, "#26828e"],
  [5 / 9, "#1f9e89"],
  [6 / 9, "#35b779"],
  [7 / 9, "#6ece58"],
  [8 / 9, "#b5de2b"],
  [1, "#fde725"],
];
export const DIVERGING = [
  [0, "#08519c"],
  [0.25, "#6baed6"],
  [0.5, "#f0f0f0"],
  [0.75, "#f5a462"],
  [1, "#a63603"],
];
export const DIVERGING_ON_DARK = [
  [0, "#a6d3f7"],
  [0.25, "#3f85bd"],
  [0.5, "#262d35"],
  [0.75, "#b8641f"],
  [1, "#ffc38f"],
];
export const TRANSPARENT = "rgba(0,0,0,0)";
export const MAY_ATTEND = "#0072b2";
export const BLOCKED = "#e69f00";
export const MASK_SCALE = [
  [0, BLOCKED],
  [0.5, BLOCKED],
  [0.5, MAY_ATTEND],
  [1, MAY_ATTEND],
];
export const HATCH_FILL = "#8a8d93";
export const HATCH = {
  mode: "lines",
  line: { width: 0 },
  fill: "toself",
  fillcolor: HATCH_FILL,
  fillpattern: { shape: "/", size: 7, bgcolor: HATCH_FILL, fgcolor: "#c3c6cb", solidity: 0.2 },
  hoverinfo: "skip",
};
export const LINES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c"];
export const LINE_WIDTH = 2;
export const TICK_SIZE = 12;
export const GLYPH_WIDTH = 0.62 * TICK_SIZE; // pixels an average Latin letter takes in a tick label
export const MAX_TICK_WIDTH = 14; // letters of a token that a tick shows
export const LEANING = 0.71; // height of a label that leans at 45 degrees, as a part of its length
export const MAX_LABELS = 24; // on one axis: more cost more time than the map itself

/**
 * The steps of a colour scale, [red, green, blue] from 0 to 255.
 * @param {(number | string)[][]} scale
 * @param {number} steps
 * @returns {number[][]}
 */
export function colours(scale, steps = 256) {
  const stops = scale.map(([place, colour]) => {
    const number = Number.parseInt(String(colour).slice(1), 16);
    return { place: Number(place), parts: [number >> 16, (number >> 8) & 255, number & 255] };
  });
  return Array.from({ length: steps }, (_, i) => {
    const share = i / (steps - 1);
    const next = Math.max(1, stops.findIndex(({ place }) => place >= share));
    const [from, to] = [stops[next - 1], stops[next]];
    const part = (share - from.place) / (to.place - from.place || 1);
    return from.parts.map((value, channel) => Math.round(value + part * (to.parts[channel] - value)));
  });
}
