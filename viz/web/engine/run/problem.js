// Errors that a visitor can cause, as in model/text/errors.py.

/** An error with a template in English and its values, so that it can be said in another language. */
export class Problem extends Error {
  /**
   * @param {string} template as for Python's str.format: {n} or {n:,}, {word!r}
   * @param {Record<string, string | number>} values
   */
  constructor(template, values = {}) {
    super(template.replace(/\{(\w+)(:,|!r)?\}/g, (_, name, form) => formatValue(values[name], form)));
    this.name = "Problem";
    this.template = template;
    this.values = values;
  }
}

/**
 * @param {string | number} value
 * @param {":," | "!r" | undefined} form
 */
function formatValue(value, form) {
  if (form === "!r") return `'${value}'`;
  return form ? Number(value).toLocaleString("en") : String(value);
}
