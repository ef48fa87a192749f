// Sentences of the catalogue with their values: numbers as the language of the reader writes them.

const PLACE = /\{(\w+)(!r)?(?::([^}]*))?\}/g;
const SPEC = /^(\+?)(,?)(?:\.(\d+))?([defg%]?)$/;

/** @type {Map<string, Intl.NumberFormat>} by language and specification: a format takes longer to build than to use */
const formats = new Map();

/**
 * A number as a specification of Python's format says ("+.2f", ".1%", ",d", ".2e"), with the marks of a language.
 * @param {number} value
 * @param {string} spec
 * @param {string} language
 * @returns {string}
 */
export function formatNumber(value, spec, language) {
  if (spec.endsWith("e")) return scientific(value, spec, language);
  const name = `${language} ${spec}`;
  const format = formats.get(name) ?? formatOf(spec, language);
  formats.set(name, format);
  return format.format(value);
}

/** A number as a power of ten. @param {number} value @param {string} spec @param {string} language */
function scientific(value, spec, language) {
  const [, , , digits = "6"] = SPEC.exec(spec) ?? [];
  const [number, power] = value.toExponential(Number(digits)).split("e");
  const places = power.slice(1).padStart(2, "0");
  return `${formatNumber(Number(number), `.${digits}f`, language)}e${power[0]}${places}`;
}

/** @param {string} spec @param {string} language */
function formatOf(spec, language) {
  const [, sign, group, digits, type] = SPEC.exec(spec) ?? [];
  const places = digits === undefined || type === "g" ? undefined : Number(digits);
  return new Intl.NumberFormat(language, {
    style: type === "%" ? "percent" : "decimal",
    signDisplay: sign ? "always" : "negative",
    useGrouping: Boolean(group),
    roundingMode: "halfEven", // as Python rounds
    minimumFractionDigits: places,
    maximumFractionDigits: places ?? (type === "%" ? 0 : 6),
    ...(type === "g" && digits && { maximumSignificantDigits: Number(digits) }),
  });
}

/** A number with three digits, as viz/text/words.py writes it. @param {number} value @param {string} language */
export function writeNumber(value, language) {
  if (value === 0) return "0";
  return formatNumber(value, Math.abs(value) < 0.001 ? ".1e" : ".3f", language);
}

/**
 * Puts values into the places of a text.
 * @param {string} text
 * @param {Record<string, unknown>} values
 * @param {string} language
 */
export function fill(text, values, language = "en") {
  return text.replace(PLACE, (place, name, quoted, spec) => {
    const value = values[name];
    if (value === undefined || value === null) return place;
    if (quoted) return `'${value}'`;
    return typeof value === "number" && spec ? formatNumber(value, spec, language) : String(value);
  });
}

/**
 * The decimal mark of a language, and the one between thousands, as Plotly takes them.
 * @param {string} language
 */
export function numberMarks(language) {
  const parts = new Intl.NumberFormat(language, { useGrouping: true }).formatToParts(123456.5);
  /** @param {string} type @param {string} fallback */
  const mark = (type, fallback) => parts.find((part) => part.type === type)?.value ?? fallback;
  return mark("decimal", ".") + mark("group", ",");
}
