// What wrote a word, besides direct effects: the layer lens and occlusion; see model/running/attribution.py.

import { readLogits } from "../search/candidates.js";
import { Problem } from "../run/problem.js";
import { arrayIn } from "../run/trace.js";
import { BOS_ID } from "../text/special.js";
import { normalise } from "../model/norm.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/translator.js").Translator} Translator */

/**
 * @typedef {object} Lens The most probable words at each step, if a model stopped after a sublayer of the decoder.
 * @property {string[]} sublayers N names: "input", "decoder.layers.0.self_attention", ...
 * @property {string[][][]} words (N, T, k), the most probable first
 * @property {number[][][]} ids
 * @property {number[][][]} probabilities
 */

/**
 * Passes the stream after every sublayer through the final norm and the output matrix (nostalgebraist 2020).
 * @param {Translator} translator
 * @param {Answer} answer with its trace
 * @param {number} k words that are kept
 * @returns {Lens}
 */
export function lens({ model, target }, { trace }, k = 5) {
  const { memory, config, decoder } = model;
  const { d_model: size, vocab_size } = config;
  if (!(k >= 1 && k <= vocab_size)) throw new Problem(`k must be from 1 to ${vocab_size}, got ${k}`);
  const sublayers = decoder.layers.flatMap(({ sublayers }) => sublayers);
  const places = [["input", "decoder.input"], ...sublayers.map(({ module, residual }) => [module.name, residual.name])];
  const predictions = places.map(([, residual]) => {
    const stream = arrayIn(trace, `${residual}.stream`);
    const [steps] = stream.shape;
    const mark = memory.mark;
    const x = memory.allocate(steps * size);
    const logits = memory.allocate(steps * vocab_size);
    memory.floats.set(stream.data, x / 4);
    normalise(memory, x, x, decoder.norm, steps, config);
    decoder.softmax.logits(memory, logits, x, steps);
    const ofSteps = Array.from({ length: steps }, (_, step) => readLogits(model, logits, step, k));
    memory.release(mark);
    return ofSteps;
  });
  return {
    sublayers: places.map(([name]) => name),
    words: predictions.map((steps) => steps.map(({ ids }) => target.tokens(ids))),
    ids: predictions.map((steps) => steps.map(({ ids }) => ids)),
    probabilities: predictions.map((steps) => steps.map(({ logProbabilities }) => logProbabilities.map(Math.exp))),
  };
}

/**
 * How many nats the log-probability of each written word drops without each source token, (T, S).
 * @param {Translator} translator
 * @param {Answer} answer
 * @param {import("../run/translator.js").Request} request that it answers
 * @param {() => Promise<void> | void} [pause] between two source tokens; it may throw
 */
export async function occlusion(translator, { source_ids, predicted_ids }, request, pause) {
  const { model } = translator;
  let edits = await translator.editsOf(request, source_ids, pause);
  if (request.target === undefined) edits = edits.withoutFuture;
  const inputIds = [BOS_ID, ...predicted_ids.slice(0, -1)];
  const logProbabilities = (/** @type {number} */ hidden) => {
    const changes = { edits, positions: request.positions ?? {}, hidden };
    model.begin();
    const { logits } = model.read(inputIds, model.encode(source_ids, changes), changes);
    return predicted_ids.map((id, step) => readLogits(model, logits, step, 1).of(id));
  };
  const unablated = logProbabilities(-1);
  const data = new Float32Array(predicted_ids.length * source_ids.length);
  for (let token = 0; token < source_ids.length; token++) {
    await pause?.();
    const without = logProbabilities(token);
    without.forEach((value, step) => (data[step * source_ids.length + token] = unablated[step] - value));
  }
  return { data, shape: [predicted_ids.length, source_ids.length] };
}
