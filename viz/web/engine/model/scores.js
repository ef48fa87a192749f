// From the products of a query with its keys to the weights: Vaswani et al. 2017, equation 1, and what came since.

/**
 * Products (heads, keys) of a query with its keys become scores: divided, capped (Gemma 2), with the bias of relative
 * positions, -Infinity where the mask hides a key.
 * @param {Float32Array} numbers
 * @param {import("./attention.js").Reading} reading
 * @param {Uint8Array | null} mask
 * @param {Pick<import("./attention.js").Attention, "dHead" | "config" | "relative">} attention
 * @param {(part: string, array: Float32Array) => void} keep
 */
export function scoreProducts(numbers, { query, nKeys }, mask, { dHead, config, relative }, keep) {
  const scale = 1 / Math.sqrt(dHead);
  const { score_cap: cap } = config;
  const { bias } = relative;
  for (let i = 0; i < numbers.length; i++) numbers[i] *= scale;
  if (cap) for (let i = 0; i < numbers.length; i++) numbers[i] = cap * Math.tanh(numbers[i] / cap);
  if (bias) {
    const biases = numbers.map((_, i) => bias(Math.floor(i / nKeys), (i % nKeys) - query));
    keep("relative.bias", biases);
    for (let i = 0; i < numbers.length; i++) numbers[i] += biases[i];
  }
  if (mask) for (let i = 0; i < numbers.length; i++) if (!mask[i % nKeys]) numbers[i] = -Infinity;
}

/**
 * Scores (heads, keys) to weights with one more score per head in the softmax, which gives nothing (gpt-oss).
 * @param {Float32Array} numbers
 * @param {Float32Array} sink
 * @param {number} nKeys
 * @returns {Float32Array} the weights of the sinks (heads,)
 */
export function softmaxWithSink(numbers, sink, nKeys) {
  return sink.map((ofSink, head) => {
    const row = numbers.subarray(head * nKeys, (head + 1) * nKeys);
    const most = row.reduce((a, b) => Math.max(a, b), ofSink);
    const exponentials = row.map((score) => Math.exp(score - most));
    const sum = exponentials.reduce((a, b) => a + b, Math.exp(ofSink - most));
    row.set(exponentials.map((exponential) => exponential / sum));
    return Math.exp(ofSink - most) / sum;
  });
}
