// Heads as tiles of which one is chosen: kind, layer and head stand in the address, as in the app.

/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../../pages/tiles.js").Pixels} Pixels */
/** @typedef {{kind: string, layer: number, head: number}} Place  of a head */

const KINDS = ["encoder_self", "decoder_self", "cross"];
const MOST = 255; // a layer, or a head: another view may have more of them

/**
 * The head of an address; the default one where it has none, and where this view has no such head.
 * @param {import("../../reader.js").Reader} reader
 * @param {Record<string, ArrayLike<ArrayLike<unknown>>>} heads  by kind, layer and head; "" where there is one kind
 * @param {Place} usual
 * @returns {Place}
 */
export function headOf(reader, heads, usual) {
  const kind = "" in heads ? "" : reader.one("kind", KINDS, usual.kind);
  const layer = reader.whole("layer", 0, MOST, usual.layer);
  const head = reader.whole("head", 0, MOST, usual.head);
  return heads[kind]?.[layer] && head < heads[kind][layer].length ? { kind, layer, head } : usual;
}

/** @param {Place} place */
const codeOf = ({ kind, layer, head }) => [kind, layer, head].join("-");

/**
 * All heads as tiles.
 * @param {Record<string, Pixels[][]>} pixels  by kind, layer and head
 * @param {Place} open
 * @param {Place} usual
 * @param {import("../../../recording/message/types.js").Say} say
 * @returns {Part}
 */
export function headTiles(pixels, open, usual, say) {
  const places = Object.entries(pixels).flatMap(([kind, layers]) => layers.flatMap((heads, layer) => heads.map((_, head) => ({ kind, layer, head }))));
  const isOnlyKind = Object.keys(pixels).length === 1;
  const tiles = places.map((place) => {
    const { kind, layer, head } = place;
    const kindName = say(`kind.${kind}`);
    return {
      ...{ code: codeOf(place), pixels: pixels[kind][layer][head] },
      name: isOnlyKind ? say("layer_head", { layer, head }) : say("head_name", { kind: kindName, layer, head }),
      ...(!layer && !head && !isOnlyKind && { heading: kindName }),
    };
  });
  const usualCode = codeOf(usual);
  const parametersOf = (/** @type {Place} */ place) => {
    const { kind, layer, head } = place;
    if (codeOf(place) === usualCode) return { kind: null, layer: null, head: null };
    return { kind: isOnlyKind ? null : kind, layer: String(layer), head: String(head) };
  };
  const sets = Object.fromEntries(places.map((place) => [codeOf(place), parametersOf(place)]));
  const columns = Math.max(...Object.values(pixels).map((layers) => layers[0].length));
  return { type: "tiles", key: "head", label: say("label.heads"), columns, tiles, value: codeOf(open), usual: usualCode, small: true, height: 40, fills: true, sets };
}
