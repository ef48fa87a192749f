// Text as people type and paste it, made what the models read: the rule of model/text/cleaning.py.

const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // as Python's str.isspace
const SPACE_CONTROLS = "\\t-\\r\\x1c-\\x1f\\x85";
const OTHERS = "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u3164\\ufe00-\\ufe0f\\uffa0\\u{e0100}-\\u{e01ef}";
// What holds an emoji together: a family, a sun, the keys of a telephone, the flag of a region.
const IN_EMOJI = [
  "(?<=[\\p{So}\\u{1f3fb}-\\u{1f3ff}\\ufe0f])\\u200d(?=[\\p{So}\\p{Sm}])",
  "(?<=[\\p{So}\\p{Sm}])\\ufe0f",
  "(?<=[0-9#*])\\ufe0f(?=\\u20e3)",
  "(?<=[\\u{1f3f4}\\u{e0020}-\\u{e007f}])[\\u{e0020}-\\u{e007f}]",
];
const UNSEEN = new RegExp(`(?!${IN_EMOJI.join("|")})(?![${SPACE_CONTROLS}])[\\p{Cc}\\p{Cf}${OTHERS}]`, "gu");

/** @param {string} from @param {string} to @returns {[string, string][]} */
const each = (from, to) => Array.from(from, (sign) => [sign, to]);
const MEANT = new Map([...each("\u2019\u201b\u02bc\u02b9\u2032\u00b4\uff07", "'"), ...each("\u2010\u2011\u2012\u2043\u2212", "-"), ...each("\u2044", "/")]);
const MEANT_QUOTES = new Map([...each("\u2018", "'"), ...each("\u201c\u201d\u201f\u2033\u301d\u301e\uff02", '"')]);
const GERMAN_QUOTES = /[\u201e\u201a]/u; // in a text with them the others are closing quotes
const FRACTION = /(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215e])/gu; // 2½ is 2 1/2
const POWER = /(?<=[0-9])(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u2079])/gu; // 10² is 10^2
const AREA = /(?<=m)([\u00b2\u00b3])/u; // m² and cm³ stay as they are

/** @param {string} text @param {Map<string, string>} table */
const translateSigns = (text, table) => Array.from(text, (sign) => table.get(sign) ?? sign).join("");

/**
 * The text without what nobody sees, with white space as single spaces and none at the ends.
 * @param {string} text
 */
export const tidy = (text) => text.replace(UNSEEN, "").split(SPACES).filter(Boolean).join(" ");

/**
 * The text with characters that only look different as those that they stand for, tidied.
 * @param {string} text
 */
export function asMeant(text) {
  let plain = translateSigns(tidy(text), MEANT);
  if (!GERMAN_QUOTES.test(plain)) plain = translateSigns(plain, MEANT_QUOTES);
  const spaced = plain.replace(FRACTION, " ").replace(POWER, "^");
  const compatible = spaced.split(AREA).map((part, n) => (n % 2 ? part : part.normalize("NFKC")));
  return tidy(translateSigns(compatible.join(""), MEANT));
}
