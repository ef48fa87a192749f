// Beyond the trained length: the loss by position of language models, as it was measured.

/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {{length: number, perplexity: number, loss: Float32Array}} Length  the mean losses of bins of positions */
/** @typedef {{name: string, tokens: number, lengths: Length[], pixels: import("../../../pages/tiles.js").Pixels}} Measured */

const ALL = "all"; // the code of all models side by side

/**
 * @param {import("../../reader.js").Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet>}
 */
export async function tooLong(reader, given) {
  const { told, say, language } = given;
  /** @type {{models: Measured[], pixels: import("../../../pages/tiles.js").Pixels}} */
  const { models, pixels } = await given.file("beyond");
  const names = models.map(({ name }) => name);
  const selected = reader.one("measured", [ALL, ...names]);
  const losses = models.flatMap(({ lengths }) => lengths.flatMap(({ loss }) => [...loss]));
  /** @type {[number, number]} */
  const range = [Math.min(...losses), Math.max(...losses)];
  const shown = models.filter(({ name }) => selected === ALL || name === selected);
  const list = (/** @type {string[]} */ texts) => new Intl.ListFormat(language).format(texts);
  const ends = (/** @type {Measured} */ { lengths }) => [lengths[0], lengths[lengths.length - 1]];
  const factors = models.map((model) => {
    const [first, last] = ends(model);
    return say("long.factor", { factor: last.perplexity / first.perplexity, name: model.name });
  });
  const perplexities = models.map((model) => {
    const [first, last] = ends(model);
    return say("long.perplexities", { name: model.name, a: first.perplexity, n: first.length, b: last.perplexity, m: last.length });
  });
  const tiles = [
    { code: ALL, name: say("long.side_by_side"), note: list(names), pixels },
    ...models.map(({ name, pixels: ofModel }) => ({ code: name, name, note: told.beyond[name], pixels: ofModel })),
  ];
  return {
    controls: {},
    answer: say("long.answer", { list: list(factors) }),
    below: perplexities.join(" "),
    left: [
      { type: "note", text: say("long.about") },
      { type: "tiles", key: "measured", label: say("label.models"), columns: 2, tiles, value: selected, usual: ALL, fills: true },
    ],
    right: [
      ...shown.map((model, i) => curvesOf(model, range, shown.length - i, given)),
      { type: "note", text: say("long.measured", { n: Math.max(...models.map(({ tokens }) => tokens)), command: "python -m model context" }) },
    ],
  };
}

/**
 * The losses of a model at every length that was measured, in the middle of their bins.
 * @param {Measured} model
 * @param {[number, number]} range  of all models
 * @param {number} left  how many pictures share the room
 * @param {Given} given
 * @returns {Part}
 */
function curvesOf({ name, lengths }, range, left, { told, say }) {
  const lines = lengths.map(({ length, perplexity, loss }) => ({
    name: say("long.line", { n: length, perplexity }),
    x: Float64Array.from(loss, (_, bin) => ((bin + 0.5) * length) / loss.length),
    y: loss,
  }));
  const panels = [{ title: say("label.loss"), lines, range }];
  const title = `${name} · ${told.beyond[name]}`;
  return { type: "curves", name, save: `beyond-${name}`, label: say("loss_of", { name }), title, xAxis: say("label.position"), panels, fills: [200, 24, 1 / left] };
}
