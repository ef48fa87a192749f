// Reads the parameters of an address as viz/views/codes.py does, and remembers those that mean nothing.

export class Reader {
  /** @type {string[]} as name=code */ missed = [];

  /** @param {Record<string, string>} parameters */
  constructor(parameters) {
    this.parameters = parameters;
  }

  /**
   * @template V
   * @param {string} key
   * @param {V} usual
   * @param {(code: string) => V | undefined} parse
   * @returns {V}
   */
  read(key, usual, parse) {
    const code = this.parameters[key];
    if (code === undefined) return usual;
    const value = parse(code);
    if (value === undefined) this.missed.push(`${key}=${code.slice(0, 40)}`);
    return value ?? usual;
  }

  /**
   * One of some codes.
   * @param {string} key
   * @param {readonly string[]} codes
   * @param {string} [usual]  else the first
   */
  one(key, codes, usual = codes[0]) {
    return this.read(key, usual, (code) => codes.find((other) => other === code));
  }

  /**
   * Several codes, joined by points.
   * @param {string} key
   * @param {readonly string[]} codes
   * @param {string[]} usual
   * @param {number} [most]
   */
  several(key, codes, usual, most = Infinity) {
    return this.read(key, usual, (text) => {
      const chosen = text ? [...new Set(text.split("."))] : [];
      return chosen.length <= most && chosen.every((code) => codes.includes(code)) ? chosen : undefined;
    });
  }

  /** A number from `low` to `high`. @param {string} key @param {number} low @param {number} high @param {number} usual */
  number(key, low, high, usual) {
    return this.read(key, usual, (code) => {
      const value = code.trim() ? Number(code) : NaN;
      return value >= low && value <= high ? value : undefined;
    });
  }

  /** A whole number from `low` to `high`. @param {string} key @param {number} low @param {number} high @param {number} usual */
  whole(key, low, high, usual) {
    return this.read(key, usual, (code) => {
      const value = /^[+-]?\d+$/.test(code) ? Number(code) : NaN;
      return value >= low && value <= high ? value : undefined;
    });
  }

  /** A text of at most so many characters. @param {string} key @param {string} usual @param {number} [most] */
  text(key, usual, most = 2000) {
    return this.read(key, usual, (text) => text.slice(0, most));
  }
}
