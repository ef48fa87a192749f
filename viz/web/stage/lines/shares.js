// What decides where each head looks, in the cards: fetched once a message has been shown for a while, behind all else.

import { unpack } from "../../recording/message/packed.js";

/** @typedef {import("../../recording/message/payloads.js").SharesPayload} SharesPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

const PAUSE = 1500; // ms without another message: who types waits for maps only
const HELD = 8; // texts
const MOST = 3; // groups that a card names
const LITTLE = 0.05; // of all, below which a group is not named
const ON_BOTH_SIDES = ["positions", "distance"];
const GROUPS = ["positions", "words", "earlier heads", "feed-forward", "bias", "distance"];

/** @type {Map<string, SharesPayload | null>} by address; null where there are none (yet) */
const fetched = new Map();
/** @type {WeakMap<Stage, ReturnType<typeof setTimeout>>} */
const waiting = new WeakMap();

/** Fetches the shares of the text that a stage shows, after a pause. @param {Stage} stage */
export function fetchShares(stage) {
  const { shares } = stage.result.payload;
  clearTimeout(waiting.get(stage));
  if (typeof shares !== "string" || fetched.has(shares)) return;
  waiting.set(stage, setTimeout(() => fetchNow(stage, shares), PAUSE));
}

/** @param {Stage} stage @param {string} address */
async function fetchNow(stage, address) {
  if (!stage.root.isConnected) return;
  fetched.set(address, null);
  for (const old of [...fetched.keys()].slice(0, -HELD)) fetched.delete(old);
  try {
    const answer = await stage.host.part(address);
    fetched.set(address, /** @type {SharesPayload} */ (unpack(new Uint8Array(answer))));
    stage.describe();
  } catch {
    // The card says less.
  }
}

/** @param {Stage} stage @returns {SharesPayload | null} */
function sharesOf({ result }) {
  const { shares } = result.payload;
  return (typeof shares === "string" ? fetched.get(shares) : shares) ?? null;
}

/**
 * The share of a group: of position and distance that on both sides, of others what stands at the keys.
 * @param {ArrayLike<number>[]} shares  (G, G), group of the query and of the key
 * @param {string} group
 * @param {number} i  its place
 */
function shareOf(shares, group, i) {
  if (ON_BOTH_SIDES.includes(group)) return shares[i][i];
  return shares.reduce((sum, row) => sum + row[i], 0);
}

/**
 * What decides where a head looks, for the card; null where that is not known.
 * @param {Stage} stage
 * @param {[number, number]} place
 */
export function sharesLine(stage, [layer, head]) {
  const { kind, say } = stage;
  const shares = kind?.single && !kind.signed && !kind.effect ? sharesOf(stage) : null;
  const ofHead = shares?.shares[kind?.code ?? ""]?.[layer]?.[head];
  if (!shares || !ofHead) return null;
  const causes = shares.groups
    .map((group, i) => ({ group, share: shareOf(ofHead, group, i) }))
    .filter(({ group, share }) => GROUPS.includes(group) && share >= LITTLE)
    .sort((one, other) => other.share - one.share)
    .slice(0, MOST)
    .map(({ group, share }) => say(`why_share_${group.replace(/[ -]/g, "_")}`, { share }));
  return causes.length ? say("why_card", { causes: causes.join(", ") }) : null;
}
