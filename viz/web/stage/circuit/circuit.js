// The view Circuit: who uses whom. What other parts of the stage ask of it.

import { SIDES, keyOf } from "../../recording/pictures/circuit.js";
import { LIGHT, circuitSvg } from "../../recording/pictures/circuit_picture.js";
import { drawingOf, headName, tokensOf } from "./drawing.js";
import { parameters, placeInFile, restore } from "./state.js";

/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {import("../main/stage.js").Stage} Stage */

/** Whether there are circuits, or a sentence that says why not. @param {Open} stage */
function isThere({ result, kinds, host, beside }) {
  const { circuit } = result.payload;
  const [first] = kinds.values();
  if (!circuit || !first || first.signed || !first.single || beside) return false;
  return "reason" in circuit || Boolean(host.ask ? circuit.address : circuit.word || circuit.graph);
}

/** The sentence above the picture; null in other views. @param {Stage} stage */
function heading(stage) {
  return stage.circuitBox.isOpen ? stage.circuitBox.heading() : null;
}

/** What there is of it beside the picture: a table of its lines. @param {Stage} stage @returns {import("../main/view.js").View} */
function buildView(stage) {
  const { circuit, pruned, graph, links, faint } = stage.circuitBox.shown;
  const { say } = stage;
  const columns = ["from", "to", "side", "value"].map((name) => say(`circuit_column_${name}`));
  /** @type {(string | number)[][]} */
  let rows;
  if (circuit && !graph) {
    columns.push(say("circuit_column_share"));
    const place = (/** @type {import("../../recording/pictures/circuit.js").CircuitNode} */ node) =>
      `${headName(stage, keyOf(node))} “${tokensOf(stage, node.kind).queries[node.position]}”`;
    rows = pruned.edges.map((number) => {
      const { from, to, side, amount, share } = circuit.edges[number];
      return [place(circuit.nodes[from]), place(circuit.nodes[to]), say(`circuit_side_${side}`), amount, share];
    });
  } else {
    columns[3] = say("circuit_column_share");
    rows = [...links, ...faint].map(({ source, target, side, value }) => [
      headName(stage, source),
      headName(stage, target),
      say(`circuit_side_${side}`),
      value,
    ]);
  }
  return { isElsewhere: true, line: "", table: [rows.map((_, i) => String(i + 1)), columns, rows] };
}

const [WIDTH, HEIGHT] = [1100, 520]; // of a picture in a file

/** The picture as SVG that stands alone, on white. @param {Stage} stage */
export function savedSvg(stage) {
  const { circuitBox, say, state } = stage;
  const drawing = drawingOf(stage, circuitBox.shown, WIDTH, HEIGHT);
  const title = String(circuitBox.heading());
  const about = say(state.circuit.graph === "heads" ? "circuit_graph_about" : "circuit_about");
  const notes = [circuitBox.kept.textContent ?? "", about].filter(Boolean);
  return circuitSvg(drawing, LIGHT, { label: title, title, notes, sides: SIDES.map((side) => say(`circuit_side_${side}`)) });
}

/** Saves the picture as an image. @param {Stage} stage @returns {Promise<string>} its address */
export async function savedPng(stage) {
  const text = savedSvg(stage);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

/** What a file carries of what is open; null of nothing. @param {Stage} stage */
function carried(stage) {
  const { circuit, graph } = stage.circuitBox.shown;
  if (!circuit && !graph) return null;
  return { ...(circuit && { word: circuit, kept: stage.circuitBox.keptNow() }), ...(graph && { graph }) };
}

/** The numbers as JSON: the circuit, what the answer keeps of it, and the shares of all heads where they are shown. @param {Stage} stage */
export function savedJson(stage) {
  const plain = (/** @type {string} */ _, /** @type {any} */ value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {Float32Array} */ (value)) : value);
  return `${JSON.stringify(carried(stage) ?? {}, plain, 1)}\n`;
}

/** A message that has the circuit that is open, for a file. @param {Stage} stage @param {import("../main/message.js").Message} message */
function messageWithOpen(stage, message) {
  const { view } = stage.state;
  const version = message[/** @type {"after"} */ (stage.version)];
  if (!version || !("circuit" in version) || !version.circuit || !stage.host.ask) return message;
  const circuit = view === "circuit" && stage.measure !== "effects" ? carried(stage) : null;
  return { ...message, [stage.version]: { ...version, circuit } };
}

export const circuit = { buildView, heading, isThere, messageWithOpen, parameters, placeInFile, restore };
