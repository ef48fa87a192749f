// The Python that makes what the page shows, as text: viz/views/recipes.py.

import { writeEdits } from "../../engine/analysis/edit_code.js";
import { callOf, repr, writeProgram } from "../../recording/message/program.js";
import { forEngine, hasEdits, movesPositions, noChanges } from "../view/changes.js";
import { PENALTY } from "../view/view.js";

/** @typedef {import("../../recording/message/payloads.js").ProgramPayload} Program */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */
/** @typedef {import("../../engine/analysis/patching_words.js").ComparedWords & {reverse?: boolean}} Compared */
/** @typedef {Pick<PageRequest, "text" | "model" | "beam" | "penalty" | "reference" | "changes">} Translated */

const LOAD = "from model import load_translator";
const EDITS = "from model.interventions.edits import Edits";
const POSITIONS = "from model.experiments.positions import changed_positions";
const ANALYSIS = "import model.analysis.maps as analysis";
const NUMPY = "import numpy as np";

/** A number that Python has as a float. @param {number} number */
const float = (number) => (Number.isInteger(number) ? number.toFixed(1) : String(number));

/** @param {string} model @param {string} name */
const loading = (model, name) => `${name} = load_translator(${repr(model)})`;

/**
 * How Python makes `result`, a translation.
 * @param {Translated} request
 * @returns {Program}
 */
export function programOf(request) {
  const { imports, lines } = translating(request, "result", "translator");
  return { imports: [LOAD, ...imports], lines: [loading(request.model, "translator"), ...lines] };
}

/**
 * How Python makes two translations, `a` and `b`.
 * @param {Translated} a
 * @param {Translated} b
 * @returns {Program}
 */
export function programOfBoth(a, b) {
  const isSame = a.model === b.model;
  const both = [translating(a, "a", "translator"), translating(b, "b", isSame ? "translator" : "other")];
  const loads = [...(isSame ? [] : [loading(b.model, "other")]), loading(a.model, "translator")];
  return { imports: [LOAD], lines: [...loads, ...both.flatMap(({ lines }) => lines)] };
}

/**
 * The Python of what comes back of one text in the other; {what} stands for what is taken of a head.
 * @param {Translated} a
 * @param {Translated} b
 * @param {Compared} compared
 */
export function codeOfPatching(a, b, compared) {
  const lines = [
    patchingLine(compared),
    "print(patching.words, patching.clean, patching.corrupted)",
    "for kind in patching.kinds:",
    "    print(kind, patching.heads(kind, '{what}').round(2))",
    "for side in patching.sides:",
    "    print(side, patching.tokens(side), patching.streams(side).round(2))",
  ];
  return writeProgram(programOfBoth(a, b), [], lines);
}

/**
 * How Python makes `result`, the text that is changed with patches.
 * @param {Translated} a
 * @param {Translated} b
 * @param {Compared} compared
 * @param {import("../../engine/analysis/patches.js").Patch[]} patched
 * @returns {Program}
 */
export function programOfPatched(a, b, compared, patched) {
  const edits = { ...noChanges().edits, patched };
  const changed = { ...(compared.reverse ? a : b), changes: { ...noChanges(), edits } };
  const { imports, lines } = translating(changed, "result", "translator");
  const both = programOfBoth(a, b);
  const fromCode = callOf("Edits.from_code", [repr(writeEdits(edits))]);
  const [, ...translation] = lines; // the first are the edits
  const ofPatches = [patchingLine(compared), `edits = patching.edits(*${fromCode}.patched)`];
  return { imports: [...both.imports, ...imports], lines: [...both.lines, ...ofPatches, ...translation] };
}

/** @param {Compared} compared */
function patchingLine({ answer, against, reverse }) {
  const named = Object.entries({ answer, against }).filter(([, word]) => word);
  const words = named.map(([name, word]) => `${name}=${repr(String(word))}`);
  return `patching = translator.patching(${["a", "b", ...words, ...(reverse ? ["reverse=True"] : [])].join(", ")})`;
}

/**
 * How Python makes one translation with a translator.
 * @param {Translated} request
 * @param {string} result
 * @param {string} translator
 * @returns {Program}
 */
function translating({ text, beam, penalty, reference, changes }, result, translator) {
  const { prefix, positions } = forEngine(changes);
  const isChanged = hasEdits(changes.edits);
  const edits = isChanged ? [`edits = ${callOf("Edits.from_code", [repr(writeEdits(changes.edits))])}`] : [];
  const args = [
    repr(text),
    `beam=${beam}`,
    penalty !== PENALTY && `length_penalty=${float(penalty)}`,
    isChanged && "edits=edits",
    prefix.length > 0 && `prefix=[${prefix.join(", ")}]`,
  ];
  const callText =
    reference === null
      ? callOf(`${translator}.translate`, args)
      : callOf(`${translator}.force`, [repr(text), repr(reference), isChanged && "edits=edits"]);
  const line = `${result} = ${callText}`;
  const imports = isChanged ? [EDITS] : [];
  if (!movesPositions(changes)) return { imports, lines: [...edits, line] };
  const { scale, shift, sides } = positions;
  const pythonSides = sides.length > 1 ? `(${sides.map(repr).join(", ")})` : `(${repr(sides[0])},)`;
  const context = callOf("changed_positions", [`${translator}.config.positional`, float(scale), String(shift), pythonSides]);
  const inside = `with ${context}:\n    ${line.replaceAll("\n", "\n    ")}`;
  return { imports: [...imports, POSITIONS], lines: [...edits, inside] };
}

/**
 * How Python makes the picture of the next words.
 * @param {Program} program
 * @param {number} count of candidates
 */
export function codeOfWords(program, count) {
  const args = ["np.exp(logs)", "result.predicted_tokens", "names", "output_probabilities=np.exp(result.log_probabilities)"];
  const lines = [
    `ids, logs = analysis.candidates(result.trace['logits'], ${count})`,
    "names = [translator.tokenizer.target.tokens(row.tolist()) for row in ids]",
    `figure = ${callOf("candidates_heatmap", args)}`,
    "figure.show()",
  ];
  return writeProgram(program, [NUMPY, ANALYSIS, "from viz.figures import candidates_heatmap"], lines);
}

/**
 * How Python makes the pictures of direct effects, by kind and view; {layer} and {head} stand for the opened head.
 * @param {Program} program
 * @param {Translated & Pick<PageRequest, "against">} request
 * @param {string[]} kinds
 * @returns {Record<string, string>}
 */
export function codeOfEffects(program, { against, changes }, kinds) {
  const effects = callOf("translator.effects", ["result", against !== "mean" && `against=${repr(against)}`]);
  const ofKinds = kinds.map((kind) => {
    const numbers = `effects.heads(${repr(kind)})[{layer}, {head}]`;
    const args = [numbers, "result.predicted_tokens", "value='direct effect (logits)'", "column_axis='key'"];
    const lines = [`effects = ${effects}`, `figure = ${callOf("values_heatmap", args)}`, "figure.show()"];
    return [kind, writeProgram(program, ["from viz.figures import values_heatmap"], lines)];
  });
  const ofLens = [
    "lens = translator.lens(result)",
    "for name, words in zip(lens.sublayers, lens.words):",
    "    print(name, [best[0] for best in words])",
  ];
  const without = callOf("translator.occlusion", ["result", hasEdits(changes.edits) && "edits"]);
  const agree = ["print(agreement.of_words(translator, result)['cross'])"];
  return {
    ...Object.fromEntries(ofKinds),
    parts: writeProgram(program, [], [`for name, part in ${effects}.parts.items():`, "    print(name, part)"]),
    lens: writeProgram(program, [], ofLens),
    "left-out": writeProgram(program, [], [`print(${without})`]),
    agree: writeProgram(program, ["from model.measures import agreement"], agree),
  };
}
