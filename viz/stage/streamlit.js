// The stage inside Streamlit: where messages come from, and the address of the page.

import { addressed } from "./data.js";
import { plotly } from "./library.js";
import { Stage } from "./stage.js";

const stages = new WeakMap();
const base = new URL("../../", import.meta.url); // below which the app is served
const memories = {}; // what was open, for when the visitor comes back: of texts alone, and of translations

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

let unwritten = null; // parameters of the address of a page, until the picture that they tell of is painted

/** Has parameters written after the next picture, which should not wait for that. */
function write(parameters) {
  if (unwritten) return Object.assign(unwritten, parameters);
  unwritten = { ...parameters };
  const page = location.pathname;
  requestAnimationFrame(() => setTimeout(() => (page === location.pathname ? written() : (unwritten = null))));
}

/** No entry of the history, and the server is not asked. */
function written() {
  const query = addressed(new URLSearchParams(location.search), unwritten ?? {});
  unwritten = null;
  const search = String(query) && `?${query}`;
  if (search !== location.search)
    history.replaceState(history.state, "", location.pathname + search + location.hash);
  return query;
}

function hosted() {
  const root = document.createElement("div");
  const stage = new Stage(root, {
    plotly,
    part: async (path) => (await fetched(new URL(path, base))).arrayBuffer(),
    shell: async () => (await fetched(new URL("stage.html", import.meta.url))).text(),
    read: () => Object.fromEntries(written()),
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
      // What Streamlit itself tells the server of the address is what it was when the page was opened.
      stage.trigger("asked", `?${written()}`);
    },
    act: (action) => stage.trigger("did", JSON.stringify(action)),
  });
  return stage;
}

export function show({ data, parentElement, setTriggerValue }) {
  const stage = stages.get(parentElement) ?? hosted();
  stages.set(parentElement, stage);
  if (!stage.root.isConnected) parentElement.append(stage.root);
  stage.trigger = setTriggerValue;
  stage.show(data);
  const theme = getComputedStyle(stage.root).color;
  if (stage.colour && stage.colour !== theme) stage.themed();
  stage.colour = theme;
}
