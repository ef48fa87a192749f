// The stage as a page of its own (files.py), which fetches nothing; what is open stands behind the #.

import { setParameters } from "./address.js";
import { loadedPlotly } from "../frame/plotly.js";
import { report } from "./report.js";
import { Stage } from "./stage.js";

/** @param {string} id */
const inPage = (id) => document.getElementById(id)?.textContent ?? "";
const { parts, place } = JSON.parse(inPage("hl-message"));
/** @type {Promise<import("../frame/plotly.js").Plotly> | undefined} */
let library;

/** What gzip in base64 holds. @param {string} text */
function decompress(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function plotly() {
  const script = document.createElement("script");
  script.textContent = await decompress(inPage("hl-plotly")).text();
  document.head.append(script);
  return loadedPlotly();
}

const fragment = () => new URLSearchParams(location.hash.slice(1));

/** @param {import("./message.js").Parameters} parameters */
function write(parameters) {
  try {
    history.replaceState(null, "", `#${setParameters(fragment(), parameters)}`);
  } catch {
    // A frame of a notebook has no address of its own.
  }
}

/** How many characters texts have together. @param {string[]} texts */
const sizeOf = (texts) => texts.reduce((sum, { length }) => sum + length, 0);

const stage = new Stage({
  plotly: () => (library ??= plotly()),
  part: (/** @type {string} */ address) => decompress(parts[address]).arrayBuffer(),
  read: () => (location.hash.length > 1 ? Object.fromEntries(fragment()) : place),
  write,
  memories: {},
  size: sizeOf([...Object.values(parts), inPage("hl-plotly"), new XMLSerializer().serializeToString(document.head)]),
});
document.getElementById("hl-place")?.append(stage.root);
decompress(parts[""]).arrayBuffer().then(async (message) => {
  await stage.show(new Uint8Array(message));
  document.documentElement.lang = stage.language;
  document.title = stage.result.translation || document.title;
  if (stage.message.report) document.body.append(report(stage.message.report));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.repaint());
addEventListener("hashchange", () => location.reload());
