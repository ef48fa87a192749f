// Changes that a visitor makes on the stage, as its host receives them; viz/stage/payload/payloads.py has the same types under
// the same names.

/** @typedef {import("../../recording/message/types.js").KindCode} KindCode */

/**
 * Switches a head off or on, makes it uniform, or leaves only it.
 * @typedef {object} HeadAction
 * @property {"off" | "uniform" | "alone"} do
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 */

/**
 * Switches all heads of a layer off or on.
 * @typedef {object} LayerAction
 * @property {"layer"} do
 * @property {KindCode} kind
 * @property {number} layer
 */

/**
 * Blocks or opens cells of a mask.
 * @typedef {object} CellsAction
 * @property {"cells"} do
 * @property {KindCode} kind
 * @property {number[][]} cells  row and key of each
 * @property {boolean} open
 */

/**
 * Has heads attend to a key.
 * @typedef {object} ForceAction
 * @property {"force"} do
 * @property {KindCode} kind
 * @property {number} row
 * @property {number} key
 * @property {number} strength
 * @property {number[][]} heads  layer and head of each; none are all
 */

/**
 * Leaves a part out of the queries or keys of one head only, or no longer; asked for at a cell of its map.
 * @typedef {object} CutAction
 * @property {"cut"} do
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 * @property {"queries" | "keys"} side
 * @property {string} part
 * @property {number} [row]
 * @property {number} [key]
 */

/**
 * Puts in or takes out what the other text had, by the code of a patch.
 * @typedef {object} PatchAction
 * @property {"patch"} do
 * @property {string} code
 */

/**
 * Scales and shifts positions; what is missing stays.
 * @typedef {object} PositionsAction
 * @property {"positions"} do
 * @property {string | number} [scale]
 * @property {string | number} [shift]
 * @property {string} [stacks]
 */

/**
 * Keeps everything up to a step.
 * @typedef {object} KeepAction
 * @property {"keep"} do
 * @property {number} step
 */

/**
 * Writes a candidate of a step.
 * @typedef {object} WriteAction
 * @property {"write"} do
 * @property {number} step
 * @property {number} rank  from 0
 */

/**
 * Writes a text at a step.
 * @typedef {object} TypeAction
 * @property {"type"} do
 * @property {number} step
 * @property {string} text
 */

/**
 * Takes a change back, by its code.
 * @typedef {object} DropAction
 * @property {"drop"} do
 * @property {string} code
 */

/**
 * Takes all changes back; shows what each head is worth, or no longer.
 * @typedef {object} PlainAction
 * @property {"reset" | "importance"} do
 */

/**
 * A change that a visitor makes; layers are numbered as in the model.
 * @typedef {HeadAction | LayerAction | CellsAction | ForceAction | CutAction | PatchAction | PositionsAction
 *   | KeepAction | WriteAction | TypeAction | DropAction | PlainAction} Action
 */

export {};
