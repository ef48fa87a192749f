// What a message says of activation patching. viz/stage/payload/patching.py has the same types under the same names.

/**
 * Shares of the difference of two words' logits that come back with each part: 0 is as in B, 1 is as in A; in reverse 0
 * is as in A. They are NaN at positions that have no partner. Of `heads`, `streams` and `sublayers` those are there that
 * have been computed.
 * @typedef {object} PatchingPayload
 * @property {string[]} words  that A writes, and the one of B that it is compared with
 * @property {number} clean  the logit of the first less that of the second, in A
 * @property {number} corrupted  and in B
 * @property {boolean} reverse
 * @property {boolean} estimate  heads (as a whole) and streams are estimates by one gradient
 * @property {string[]} kinds  of attention
 * @property {Record<string, number[]>} [layers]  by kind, how the model numbers each layer; else from 0
 * @property {Record<string, Record<string, any>>} heads  by kind and what is put there, "both", "weights" or "values"
 * @property {Record<string, any>} streams  by side (layers + 1, T), after the embedding and each layer
 * @property {Record<string, Record<string, any>>} sublayers  by side and sublayer (L, T)
 * @property {Record<string, string[]>} tokens  by side T, of the text that is changed
 * @property {Record<string, number[]>} unaligned  by side the positions that are left alone
 * @property {string} donor  the text that patches are taken from
 * @property {string | null} [address]  where a browser fetches what has not been computed yet
 * @property {string} [code]  Python that computes it; {what} stands for what is put there
 */

/**
 * Where a browser fetches all of a `PatchingPayload`, because it takes a while.
 * @typedef {object} LaterPatchingPayload
 * @property {string} address
 * @property {boolean} reverse
 */

/**
 * What is put into a text, and what the model writes then.
 * @typedef {object} PatchedPayload
 * @property {string[]} codes  of all patches ("pc2-2": a head, "se1-3": a stream), by which they are taken out, too
 * @property {string[]} texts  what the model writes for A and for B
 * @property {number[][]} [probabilities]  of both words where they are compared: before, and now
 * @property {string} [problem]  why what was asked for last cannot be
 */

/** @typedef {PatchingPayload | LaterPatchingPayload | import("../../recording/message/payloads.js").ReasonPayload} AnyPatchingPayload */

export {};
