// The stage as a page of its own: message and Plotly are in the page (shell.py), nothing is fetched, and what is open
// stands behind the # of the address.

import { PLACE, Stage } from "./stage.js";

const inPage = (id) => document.getElementById(id).textContent;
const { parts, place } = JSON.parse(inPage("hl-message"));
let library;
let memory = {};

/** What gzip and base64 packed. */
function unpacked(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function plotly() {
  const script = document.createElement("script");
  script.textContent = await unpacked(inPage("hl-plotly")).text();
  document.head.append(script);
  return window.Plotly;
}

const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function write(parameters, names = Object.keys(parameters)) {
  const open = { ...read() };
  for (const name of names) {
    if (PLACE.includes(name)) open[name] = parameters[name] ?? null;
    if (open[name] === null) delete open[name];
  }
  try {
    history.replaceState(null, "", `#${new URLSearchParams(open)}`);
  } catch {
    // A frame of a notebook has no address of its own.
  }
}

const host = {
  plotly: () => (library ??= plotly()),
  part: (address) => unpacked(parts[address]).arrayBuffer(),
  read: () => (location.hash.length > 1 ? read() : place),
  write,
  get memory() {
    return memory;
  },
  set memory(value) {
    memory = value;
  },
};
const root = document.createElement("div");
document.getElementById("hl-place").append(root);
const stage = new Stage(root, host);
host.part("").then((message) => {
  stage.show(new Uint8Array(message));
  document.documentElement.lang = stage.told.language;
  document.title = stage.told.translation || document.title;
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.themed());
addEventListener("hashchange", () => location.reload());
