// The stage inside Streamlit.
// @ts-nocheck

import { addressed } from "./address.js";
import { plotly } from "./plotly.js";
import { Stage } from "./stage.js";

const stages = new WeakMap();
const base = new URL("../../../", import.meta.url); // below which the app is served
const memories = {}; // what was open when the visitor left, of translations and of texts alone

async function fetched(address, as) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer[as]();
}

/** Writes parameters into the address; neither the history nor the server has them. Returns them. */
function write(parameters) {
  const query = addressed(new URLSearchParams(location.search), parameters);
  const search = String(query) && `?${query}`;
  if (search !== location.search) history.replaceState(history.state, "", location.pathname + search + location.hash);
  return search;
}

function hosted() {
  const stage = new Stage({
    plotly,
    part: (path) => fetched(new URL(path, base), "arrayBuffer"),
    shell: () => fetched(new URL("stage.html", import.meta.url), "text"),
    read: () => Object.fromEntries(new URLSearchParams(location.search)),
    write,
    memories,
    // What Streamlit itself tells the server of the address is what it was when the page was opened.
    ask: (asked) => stage.trigger("asked", stage.whole.setting ? `?${new URLSearchParams(asked)}` : write(asked)),
    act: (action) => stage.trigger("did", action),
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
  if (stage.colour && stage.colour !== theme) stage.render();
  stage.colour = theme;
}
