// The recordings of a message with the visitor's choices, and what differs between them.

import { Version, differenceOf } from "../../recording/message/version.js";
import { kindsOf } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */

/**
 * @param {import("./stage.js").Stage} stage
 * @param {import("../../recording/message/types.js").Options} options
 * @returns {Record<import("./state.js").VersionName, Shown>}
 */
export function versionsOf({ whole, recordings, language, host, say }, options) {
  const about = { part: host.part, speech: { language, say } };
  const after = new Version(whole.after, options, about, recordings.after);
  const before = whole.before && recordings.before ? new Version(whole.before, options, about, recordings.before) : after;
  const difference = before !== after ? differenceOf(before, after, Boolean(whole.comparing)) : after;
  difference.difference = whole.comparing?.program ?? null;
  const shown = (/** @type {Version} */ told) => ({ told, kinds: kindsOf(told) });
  return { before: shown(before), after: shown(after), difference: shown(difference) };
}
