// What the stage leaves as: pictures, numbers, a page.

import { button, el } from "./dom.js";
import { pack } from "../../recording/message/packed.js";
import { GLYPH, escape, wrap } from "../../recording/text/text.js";
import { writeMessage } from "../main/message.js";
import { traceOfTexts } from "../map/cell_texts.js";
import { circuit, savedJson, savedPng, savedSvg } from "../circuit/circuit.js";
import { messageWithOpen } from "../map/row_views.js";
import { tableOf } from "./menus.js";
import { onPaper } from "./page_colours.js";
import { viewOf } from "../main/view.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

const [TITLE, LINE] = [44, 20]; // pixels above a picture with a title of one line, and of each other line
const SIZE = 15; // pixels of its font

/** Has the browser keep a text as a file. @param {string} name @param {string} type @param {string} text */
export function saveFile(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveFrom(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** @param {string} name @param {string} address */
const saveFrom = (name, address) => el("a", { href: address, download: name }).click();

/**
 * Dark on white, with its title.
 * @param {Stage} stage
 * @param {string} text
 * @param {string} format
 * @param {string} filename
 */
async function picture({ host, map }, text, format, filename) {
  const { layout, texts } = map.rendered;
  const { width, margin, font } = layout;
  const data = onPaper(map.rendered.data);
  if (texts.length) data.push(traceOfTexts(data[0], texts, font.size));
  const lines = wrap(text, (width - 24) / (GLYPH * SIZE));
  const above = TITLE + LINE * (lines.length - 1);
  const height = layout.height + above;
  const place = { x: 0, xref: "container", y: 1, yanchor: "top", pad: { t: 12 + (LINE / 2) * (lines.length - 1), l: 12 }, font: { size: SIZE } };
  const room = { height, margin: { ...margin, t: margin.t + above }, title: { text: lines.map(escape).join("<br>"), ...place } };
  const white = { font: { ...font, color: "#1f2933" }, paper_bgcolor: "#fff", plot_bgcolor: "#fff" };
  const figure = { data, layout: { ...layout, ...room, ...white } };
  (await host.plotly()).downloadImage(figure, { format, filename, width, height, scale: 2 });
}

/** What spreadsheets take for formulas begins with a '. @param {Stage} stage */
function csv(stage) {
  const [names, keys, cells, corner = ""] = tableOf(viewOf(stage) ?? {}, stage);
  const safe = (/** @type {string} */ text) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const toCsv = (/** @type {string | number | null} */ cell) =>
    typeof cell === "string" ? safe(cell) : Number((cell ?? 0).toFixed(6));
  /** @type {(string | number | null)[][]} */
  const lines = [[corner, ...keys], ...cells.map((row, i) => [names[i], ...Array.from(row)])];
  if (stage.state.view === "map") {
    lines.splice(0, Infinity, ["row", stage.say("query"), "column", stage.say("key"), stage.say("weight")]);
    cells.forEach((row, i) => Array.from(row).forEach((value, j) => lines.push([i, names[i], j, keys[j], value])));
  }
  return lines.map((line) => `${line.map(toCsv).join(",")}\r\n`).join("");
}

/** Gzip in base64. @param {Uint8Array | ArrayBuffer} bytes @returns {Promise<string>} */
export async function compress(bytes) {
  const stream = new Blob([/** @type {ArrayBuffer} */ (bytes)]).stream().pipeThrough(new CompressionStream("gzip"));
  const blob = await new Response(stream).blob();
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1]);
    reader.readAsDataURL(blob);
  });
}

/**
 * Adds all heads of a kind to the parts, a byte for each weight.
 * @param {import("../main/message.js").Host} host
 * @param {Record<string, string>} parts  by address
 * @param {string} address
 * @param {number[]} shape
 */
async function heads({ part }, parts, address, [nLayers, nHeads]) {
  for (let layer = 0; layer < nLayers; layer++) {
    for (let head = 0; head < nHeads; head++) {
      const place = `${address}/${layer}/${head}`;
      parts[place] ??= await compress(await part(`${place}?bytes`));
    }
  }
}

/** The message packed, with what was fetched since it came. @param {Stage} stage */
function packedMessage(stage) {
  const { message, bytes, recordings } = stage;
  const withOpen = circuit.messageWithOpen(stage, messageWithOpen(stage));
  const whole = stage.patching?.complete(withOpen) ?? withOpen;
  if (!bytes) return writeMessage(whole, recordings);
  return whole === message ? bytes : pack(whole);
}

/** The page (files.py) with the message and all maps. @param {Stage} stage */
async function page(stage) {
  const { host, message, sides, memory } = stage;
  /** @type {Record<string, string>} */
  const parts = { "": await compress(packedMessage(stage)) };
  const { address } = message.words;
  if (address) parts[address] = await compress(await host.part(address));
  const remotes = Object.values(sides).flatMap(({ result }) => result.recording.kinds.flatMap(({ remote }) => remote ?? []));
  for (const remote of remotes) {
    if (remote.byHead) await heads(host, parts, remote.address, remote.shape);
    else parts[remote.address] ??= await compress(await host.part(remote.address));
  }
  const content = JSON.stringify({ place: { ...memory, ...circuit.placeInFile(stage) }, parts }).replaceAll("<", "\\u003c");
  return ((await host.shell?.()) ?? "").replace("@message@", () => content);
}

/** The heading as it reads, without what stands beside its sentence. @param {Stage} stage */
const titleOf = ({ title }) =>
  Array.from(title.childNodes, (node) => (node instanceof HTMLElement && "aside" in node.dataset ? "" : node.textContent))
    .join("")
    .trim();

/** What can be downloaded. @param {Stage} stage @param {() => void} close */
export function downloads(stage, close) {
  const { kind, host, state, result } = stage;
  const title = [titleOf(stage), result.translation].filter(Boolean).join(" · ");
  const name = ["headlight", state.view, ...(kind ? [kind.code, ...kind.headAt(kind.open)] : [])].join("-");
  const isCircuit = state.view === "circuit" && stage.measure !== "effects";
  const ofCircuit = {
    png: async () => saveFrom(`${name}.png`, await savedPng(stage)),
    svg: () => saveFile(`${name}.svg`, "image/svg+xml", savedSvg(stage)),
    circuit_json: () => saveFile(`${name}.json`, "application/json", savedJson(stage)),
  };
  const ofMap = {
    png: () => picture(stage, title, "png", name),
    svg: () => picture(stage, title, "svg", name),
  };
  const items = {
    ...(isCircuit ? ofCircuit : ofMap),
    html: host.shell && (async () => saveFile("headlight-stage.html", "text/html", await page(stage))),
    csv: viewOf(stage) && (() => saveFile(`${name}.csv`, "text/csv", csv(stage))),
  };
  return Object.entries(items).map(([format, make]) => {
    if (!make) return null;
    return button("item", stage.say(format), () => {
      close();
      make();
    });
  });
}
