// The recordings of a message with the visitor's choices, and what differs between them.

import { Version, differenceOf } from "../../recording/message/version.js";
import { kindsOf } from "./state.js";

/** @typedef {import("./state.js").VersionEntry} VersionEntry */

/**
 * @param {import("./stage.js").Stage} stage
 * @param {import("../../recording/message/types.js").Options} options
 * @returns {Record<import("./state.js").VersionName, VersionEntry>}
 */
export function versionsOf({ message, recordings, language, host, say }, options) {
  const about = { part: host.part, speech: { language, say } };
  const after = new Version(message.after, options, about, recordings.after);
  const before = message.before && recordings.before ? new Version(message.before, options, about, recordings.before) : after;
  const difference = before !== after ? differenceOf(before, after, Boolean(message.comparing)) : after;
  difference.difference = message.comparing?.program ?? null;
  const entryOf = (/** @type {Version} */ result) => ({ result, kinds: kindsOf(result) });
  return { before: entryOf(before), after: entryOf(after), difference: entryOf(difference) };
}
