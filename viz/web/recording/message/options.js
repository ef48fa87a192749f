// What a visitor chooses of maps: as codes of an address, and as controls.

import { DEFAULTS } from "./types.js";

/** @typedef {import("./types.js").Options} Options */

/** @type {Record<string, string[]>} */
const CHOICES = { summary: ["single", "mean", "max", "deviation"], over: ["heads", "layers", "all"] };
CHOICES.rows = ["predicted", "read"];
const SWITCHES = ["words", "hide", "stretch"];
const [LEAST, MOST] = [50, 100]; // percent
export const NAMES = Object.keys(DEFAULTS);

/**
 * Reads options from the parameters of an address; values that are not allowed become the default.
 * @param {Record<string, unknown>} parameters
 * @returns {Options}
 */
export function readOptions(parameters) {
  /** @type {Record<string, unknown>} */
  const options = { ...DEFAULTS };
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (allowed.includes(String(parameters[name]))) options[name] = parameters[name];
  }
  for (const name of SWITCHES) options[name] = [true, 1, "1", "True"].includes(/** @type {string} */ (parameters[name]));
  const share = Number(parameters.share ?? MOST);
  if (Number.isInteger(share) && share >= LEAST && share <= MOST) options.share = share;
  return /** @type {Options} */ (/** @type {unknown} */ (options));
}

/**
 * The codes of options in an address; null for defaults.
 * @param {Options} options
 */
export function codesOf(options) {
  const code = (/** @type {unknown} */ value) => (typeof value === "boolean" ? Number(value) : value);
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      value === DEFAULTS[/** @type {keyof Options} */ (name)] ? null : code(value),
    ]),
  );
}

/**
 * The controls of options, as menus.js takes them.
 * @param {Options} options
 * @param {"predicted" | "read" | null} naming  of the rows of the open map; null where there is nothing to choose
 * @param {import("./types.js").Say} say
 * @returns {import("./payloads.js").Field[]}
 */
export function fields(options, naming, say) {
  const { summary, over, words, hide, stretch, share } = options;
  /** @param {string} name @param {string} [before] */
  const choices = (name, before = "") => CHOICES[name].map((code) => [code, say(before + code)]);
  const code = (/** @type {boolean} */ on) => String(Number(on));
  /** @type {import("./payloads.js").Field[]} */
  const all = [
    {
      ...{ type: "choice", name: "summary", label: say("show"), value: summary },
      ...{ help: say("no_head_looks_like"), options: choices("summary") },
    },
    {
      ...{ type: "choice", name: "over", label: say("over"), value: over, help: "" },
      ...{ options: choices("over", "over_"), enabled: summary !== "single" },
    },
    {
      ...{ type: "choice", name: "rows", label: say("rows"), value: naming ?? "", help: say("about_rows") },
      ...{ options: choices("rows", "rows_") },
    },
    { type: "switch", name: "words", label: say("whole_words"), value: code(words), help: say("about_words") },
    { type: "switch", name: "hide", label: say("hide_special"), value: code(hide), help: say("about_hide") },
    { type: "switch", name: "stretch", label: say("stretch"), value: code(stretch), help: say("about_stretch") },
    {
      ...{ type: "range", name: "share", label: say("share"), value: share, help: say("about_share") },
      ...{ low: LEAST, high: MOST, unit: " %" },
    },
  ];
  return all.filter(({ name }) => naming || name !== "rows");
}
