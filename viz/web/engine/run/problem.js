// Errors that a visitor can cause, as in model/text/errors.py.

/** @typedef {import("../../recording/text/problems.js").Phrase} Phrase */
/** @typedef {import("../../recording/text/problems.js").Value} Value */

/** An error with a template in English and its values, so that it can be said in another language. */
export class Problem extends Error {
  /**
   * @param {string} template as for Python's str.format: {n} or {n:,}, {word!r}
   * @param {Record<string, Value>} values
   */
  constructor(template, values = {}) {
    super(complete(template, values));
    this.name = "Problem";
    this.template = template;
    this.values = values;
  }
}

/**
 * @param {string} template
 * @param {Record<string, Value>} values
 * @returns {string}
 */
function complete(template, values) {
  return template.replace(/\{(\w+)(:,|!r)?\}/g, (_, name, form) => formatValue(values[name], form));
}

/**
 * @param {Value} value
 * @param {":," | "!r" | undefined} form
 */
function formatValue(value, form) {
  if (typeof value === "object") return complete(value.template, value.values);
  if (form === "!r") return `'${value}'`;
  return form ? Number(value).toLocaleString("en") : String(value);
}
