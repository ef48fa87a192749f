// What is put from one text into the other on the page Compare, and how it stands in an address: viz/ui/stage/patching.py.

import { readEdits, writeEdits } from "../../engine/analysis/edit_code.js";
import { isHeadPatch, readPatch, writePatch } from "../../engine/analysis/patches.js";
import { KINDS } from "../../engine/run/config.js";
import { Problem } from "../../engine/run/problem.js";

/** @typedef {import("../../engine/analysis/patches.js").Patch} Patch */

/**
 * The patches after an action on the stage: one that is put in twice is taken out. Null for what is not a patch.
 * @param {import("../../stage/main/message.js").Action} action
 * @param {Patch[]} patched
 * @returns {Patch[] | null}
 */
export function patchesAfter(action, patched) {
  if (action.do === "reset") return [];
  const code = action.do === "patch" || action.do === "drop" ? action.code : "";
  const patch = readPatch(code);
  if (!patch) return null;
  const others = patched.filter((other) => placeOf(other) !== placeOf(patch));
  const isThere = patched.some((other) => writePatch(other) === code);
  return isThere ? others : [...others, patch].sort(compareOrder);
}

/** The patches as an address has them; null for none. @param {Patch[]} patched */
export const writePatches = (patched) => writeEdits({ patched }) || null;

/**
 * Reads the text of `writePatches`, or one that somebody typed.
 * @param {string} code
 */
export function readPatches(code) {
  const { patched = [], ...others } = readEdits(code);
  if (Object.values(others).some((list) => list.length))
    throw new Problem("only patches can be made here, which stand in an address as patch=v1_pc2-2_se1-3");
  return [...patched].sort(compareOrder);
}

/** A head, whatever is taken of it, or a position of a stream, as a text. @param {Patch} patch */
const placeOf = (patch) => (isHeadPatch(patch) ? `${patch.kind} ${patch.layer} ${patch.head}` : writePatch(patch));

/**
 * The order of patches: heads first, then by kind or stack, layer, head or position, as Python has it.
 * @param {Patch} a
 * @param {Patch} b
 */
function compareOrder(a, b) {
  const [keysA, keysB] = [a, b].map((patch) =>
    isHeadPatch(patch)
      ? [0, sortedKinds.indexOf(patch.kind), patch.layer, patch.head]
      : [1, Number(patch.stack !== "decoder"), patch.layer, patch.position],
  );
  const differing = keysA.findIndex((key, i) => key !== keysB[i]);
  return differing < 0 ? 0 : keysA[differing] - keysB[differing];
}

const sortedKinds = [...KINDS].sort();
