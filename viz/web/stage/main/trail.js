// The way that a visitor took from head to head: cells of maps, as codes in an address.

/** @typedef {import("../../recording/message/types.js").KindCode} KindCode */
/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("./state.js").Open} Open */

export const MOST_STEPS = 8; // with the one that is open
/** @type {Record<string, KindCode>} */
const KINDS = { d: "decoder_self", e: "encoder_self", c: "cross" };
const STEP = /^([dec])(\d{1,4})\.(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/;

/** The codes of steps; null of none. @param {CellPlace[]} trail */
export const codesOfTrail = (trail) =>
  trail.map(({ kind, layer, head, row, key }) => `${kind[0]}${[layer, head, row, key].join(".")}`).join("-") || null;

/**
 * The steps of an address that lead through cells of a stage.
 * @param {Open} stage
 * @param {unknown} codes
 * @returns {CellPlace[]}
 */
export function readTrail(stage, codes) {
  const steps = String(codes ?? "").split("-").flatMap((code) => {
    const match = STEP.exec(code);
    if (!match) return [];
    const [layer, head, row, key] = match.slice(2).map(Number);
    return [{ kind: KINDS[match[1]], layer, head, row, key }];
  });
  return steps.filter((step) => holds(stage, step)).slice(1 - MOST_STEPS);
}

/** Whether a stage has a cell. @param {Open} stage @param {CellPlace} cell */
export function holds({ kinds }, { kind: code, layer, head, row, key }) {
  const kind = kinds.get(code);
  return Boolean(kind?.holds(kind.placeOf([layer, head])) && kind.queries[row] !== undefined && kind.keys[key] !== undefined);
}
