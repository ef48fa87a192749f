// Where an axis has its numbers.

/**
 * Round numbers of an axis.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @returns {number[]}
 */
export function linearTicks(low, high, most) {
  const raw = (high - low) / Math.max(1, most);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * Powers of ten of a logarithmic axis, with 2 and 5 between them where there is room.
 * @param {number} low  above 0
 * @param {number} high
 * @param {number} most
 * @returns {number[]}
 */
export function logTicks(low, high, most) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  /** @param {number[]} factors @param {number} every */
  const ticks = (factors, every) =>
    powers
      .filter((power) => power % every === 0)
      .flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)))
      .filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const dense = ticks([1, 2, 5], 1);
  if (dense.length <= most) return dense;
  const every = [1, 2, 3, 4].find((step) => ticks([1], step).length <= most) ?? 5;
  return ticks([1], every);
}

/**
 * An axis from numbers to places.
 * @param {[number, number]} range
 * @param {[number, number]} pixels
 * @param {boolean} isLog
 */
export function scale([low, high], [from, to], isLog) {
  const part = isLog
    ? (/** @type {number} */ value) => Math.log(value / low) / Math.log(high / low || 2)
    : (/** @type {number} */ value) => (value - low) / (high - low || 1);
  return (/** @type {number} */ value) => from + part(value) * (to - from);
}

/**
 * The least and the largest of some numbers; of a logarithmic axis only those above 0.
 * @param {ArrayLike<number>[]} lists
 * @param {boolean} isLog
 * @returns {[number, number]}
 */
export function extent(lists, isLog) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : [isLog ? 0.1 : 0, 1];
}

/**
 * The place in a rising list that is nearest to a number; -1 in an empty one.
 * @param {ArrayLike<number>} list
 * @param {number} value
 */
export function nearest(list, value) {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - list[low - 1] < list[low] - value ? low - 1 : high;
}
