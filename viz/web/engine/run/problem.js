// Errors that a visitor can cause, as in model/text/errors.py.

/** An error with a template in English and its values, so that it can be said in another language. */
export class Problem extends Error {
  /**
   * @param {string} template as for Python's str.format: {n} or {n:,}
   * @param {Record<string, string | number>} values
   */
  constructor(template, values = {}) {
    super(template.replace(/\{(\w+)(:,)?\}/g, (_, name, grouped) => formatValue(values[name], Boolean(grouped))));
    this.name = "Problem";
    this.template = template;
    this.values = values;
  }
}

/**
 * @param {string | number} value
 * @param {boolean} grouped
 */
const formatValue = (value, grouped) => (grouped ? Number(value).toLocaleString("en") : String(value));
