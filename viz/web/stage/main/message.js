// What passes between the stage and its host: messages to it, and what it asks for. viz/stage/payload/payloads.py has
// the same types under the same names.

import { pack, unpack } from "../../recording/message/packed.js";
import { packedRecording, recordingOf } from "../../recording/message/reading.js";

/** @typedef {import("../../recording/message/types.js").KindCode} KindCode */
/** @typedef {import("../../recording/message/types.js").Recording} Recording */
/** @typedef {import("../../recording/message/payloads.js").ProgramPayload} ProgramPayload */
/** @typedef {import("../../recording/message/payloads.js").VersionPayload} VersionPayload */

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../../recording/message/payloads.js").ReasonPayload} ReasonPayload */
/** @typedef {import("../patching/payload.js").PatchingPayload} PatchingPayload */
/** @typedef {import("../patching/payload.js").LaterPatchingPayload} LaterPatchingPayload */
/** @typedef {import("../patching/payload.js").PatchedPayload} PatchedPayload */
/** @typedef {import("../../recording/message/payloads.js").Field} Field */
/** @typedef {Record<string, any>} Parameters  of an address and of what is open, by name; null: the default */
/** @typedef {Record<string, any>} FieldValues  values of controls by name; null: the default */

/**
 * One row of a head, over its S keys, whose queries or keys do without a part.
 * @typedef {object} CutPayload
 * @property {CellPlace} place
 * @property {"queries" | "keys"} side  from which the part is left out
 * @property {string} part
 * @property {string} query
 * @property {string[]} keys  S
 * @property {ArrayLike<number>} before  (S,), weights without the cut
 * @property {ArrayLike<number>} predicted  (S,), by the split of the scores, with norms held
 * @property {ArrayLike<number>} actual  (S,), with this path cut and nothing else changed, in the same tokens
 */

/**
 * What can be changed, and what is.
 * @typedef {object} SteeringPayload
 * @property {[string, string][]} chips  every change: the code by which it can be taken back, and a text
 * @property {[KindCode, number, number][]} off  heads: kind, layer, head
 * @property {[KindCode, number, number][]} uniform
 * @property {[KindCode, number, number, number[][]][]} forced  kind, row, key, heads; no heads are all
 * @property {[KindCode, number, number, boolean][]} cells  of masks: kind, row, key, whether it is open
 * @property {ArrayLike<number>} locked  ids of the tokens that the translation begins with
 * @property {Partial<Record<KindCode, ArrayLike<number>[]>> | null} importance  (layers, heads), in nats
 * @property {Field[]} positions
 * @property {CutPayload[]} [cuts]  of paths; missing where none can be cut
 * @property {[string | null, string | null][]} [pairs]  words before and after
 * @property {string} [cost]  of the changes
 * @property {string} [future]  a warning
 * @property {string} [problem]  why what was asked for last cannot be
 */

/**
 * Two recordings beside each other, A and B.
 * @typedef {object} ComparingPayload
 * @property {[string | null, string | null][]} words  in pairs
 * @property {[string, string] | string[]} names
 * @property {[string, string] | string[]} about  each in a few words
 * @property {string} [note]
 * @property {ProgramPayload | null} program  that makes both
 * @property {PatchingPayload | LaterPatchingPayload | ReasonPayload | null} [patching]  what comes back of A in B
 * @property {PatchedPayload | null} [patched]  then both are one text, without patches and with them
 */

/**
 * An element of a report: a text, or the rows of a table, of which the first names its columns.
 * @typedef {object} ReportPart
 * @property {string} tag  of HTML
 * @property {string} [text]
 * @property {string[][]} [rows]
 */

/**
 * @typedef {object} Message
 * @property {string} language
 * @property {import("./words.js").WordsPayload} words
 * @property {string | number} [stamp]  of the message, where a host sends it more than once
 * @property {Record<string, string | null>} address  parameters that the page's should have
 * @property {Record<string, any> | null} setting  what is open, on a page that sets the stage itself
 * @property {number | null} [least]  pixels that the large picture has at least, on a page with less room than others
 * @property {SteeringPayload | null} steering
 * @property {ComparingPayload | null} comparing
 * @property {VersionPayload} after
 * @property {VersionPayload | null} before
 * @property {ReportPart[]} [report]  how the translation came about, which files show below the stage
 * @property {boolean} [standIn]  whether it is shown until that of the address is there
 */

/** @typedef {{after: Recording, before: Recording | null}} Recordings  of a message */

/** @typedef {import("./actions.js").Action} Action */

/**
 * Who shows the stage: an app with a server, a page that computes, or a file.
 * @typedef {object} Host
 * @property {() => Promise<import("../frame/plotly.js").Plotly>} plotly
 * @property {import("../../recording/message/remote.js").Part} part  maps that did not travel with the message
 * @property {() => Parameters} read  parameters of the address
 * @property {(parameters: Parameters) => unknown} write
 * @property {Record<string, Parameters>} memories  what was open when the visitor left
 * @property {(parameters: Parameters) => unknown} [ask]  for another message
 * @property {() => unknown} [step]  begins another entry of the browser's history, in which all that follows is written
 * @property {(action: Action) => unknown} [act]  for a change
 * @property {() => Promise<string>} [shell]  the page that the stage is kept as
 * @property {number} [size]  of a file, in bytes
 */

/**
 * A packed message, and its recordings.
 * @param {Uint8Array} bytes
 * @param {Host} host
 * @returns {{message: Message, recordings: Recordings}}
 */
export function readMessage(bytes, { part }) {
  const message = unpack(bytes);
  const { after, before } = message;
  const recordings = {
    after: recordingOf(after.recording, part),
    before: before && recordingOf(before.recording, part),
  };
  return { message, recordings };
}

/**
 * The packed message of one whose recordings are here, with all their maps.
 * @param {Message} message
 * @param {Recordings} recordings
 */
export function writeMessage(message, { after, before }) {
  const { before: old } = message;
  return pack({
    ...message,
    after: { ...message.after, recording: packedRecording(after) },
    before: old && before && { ...old, recording: packedRecording(before) },
  });
}
