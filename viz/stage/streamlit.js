// The stage inside Streamlit: where messages come from, and the address of the page.

import { plotly } from "./library.js";
import { PLACE, Stage } from "./stage.js";

const stages = new WeakMap();
const base = new URL("../../", import.meta.url); // below which the app is served
const memories = {}; // what was open, for when the visitor comes back: of texts alone, and of translations

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

let unwritten = null; // parameters of the address of a page, until the picture that they tell of is painted

/** Has parameters written into the address after the next picture, which should not wait for that. */
function write(parameters, names) {
  const named = Object.fromEntries((names ?? Object.keys(parameters)).map((name) => [name, parameters[name]]));
  if (unwritten) Object.assign(unwritten, named);
  else {
    unwritten = named;
    const page = location.pathname;
    requestAnimationFrame(() => setTimeout(() => (page === location.pathname ? written() : (unwritten = null))));
  }
}

/** Writes them; null takes one out. No entry of the history, and the server is not asked. */
function written() {
  const parameters = unwritten ?? {};
  unwritten = null;
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  const search = query.toString();
  const address = location.pathname + (search ? `?${search}` : "") + location.hash;
  if (address !== location.pathname + location.search + location.hash) history.replaceState(history.state, "", address);
}

function read() {
  written();
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(PLACE.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
}

export function show({ data, parentElement, setTriggerValue }) {
  let stage = stages.get(parentElement);
  if (!stage) {
    const host = {
      plotly,
      part: async (path) => (await fetched(new URL(path, base))).arrayBuffer(),
      shell: async () => (await fetched(new URL("stage.html", import.meta.url))).text(),
      read,
      write,
      get memory() {
        return memories[Boolean(stage.whole.next)] ?? {};
      },
      set memory(value) {
        memories[Boolean(stage.whole.next)] = value;
      },
      ask: (parameters) => {
        if (stage.whole.setting) return stage.trigger("asked", `?${new URLSearchParams(parameters)}`);
        write(parameters);
        written();
        // What Streamlit itself tells the server of the address is what it was when the page was opened.
        stage.trigger("asked", location.search);
      },
      act: (action) => stage.trigger("did", JSON.stringify(action)),
    };
    const root = document.createElement("div");
    parentElement.append(root);
    stage = new Stage(root, host);
    stages.set(parentElement, stage);
  }
  stage.trigger = setTriggerValue;
  stage.show(data);
  const theme = getComputedStyle(stage.root).color;
  if (stage.colour && stage.colour !== theme) stage.themed();
  stage.colour = theme;
}
