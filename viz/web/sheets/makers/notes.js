// Sentences under pictures, and in their place.

/** @typedef {import("../types.js").Note} Note */

/** @param {string} name @param {string} text @returns {Note & {name: string}} */
export const note = (name, text) => ({ type: "note", name, text });

/** Why nothing translates here, and the command that trains what does. @param {any} told @returns {(Note & {name: string})[]} */
export const withoutTranslator = ({ no_translator: [line, command] }) => [note("problem", line), { ...note("command", command), code: true }];
