// What the stage leaves as: pictures, numbers, a page.
// @ts-nocheck

import { button, el } from "./dom.js";
import { tableOf } from "./menus.js";

const TITLE = 44; // pixels above a picture

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Dark on white, with its title. */
async function picture({ host, map }, text, format, filename) {
  const { data, layout } = map.drawn;
  const { width, margin, font } = layout;
  const height = layout.height + TITLE;
  const place = { x: 0, xref: "container", y: 1, yanchor: "top", pad: { t: 12, l: 12 }, font: { size: 15 } };
  const room = { height, margin: { ...margin, t: margin.t + TITLE }, title: { text, ...place } };
  const white = { font: { ...font, color: "#1f2933" }, paper_bgcolor: "#fff", plot_bgcolor: "#fff" };
  const figure = { data, layout: { ...layout, ...room, ...white } };
  (await host.plotly()).downloadImage(figure, { format, filename, width, height, scale: 2 });
}

/** What spreadsheets take for formulas begins with a '. */
function csv(stage) {
  const [names, keys, cells, corner = ""] = tableOf(stage.shown(), stage);
  const safe = (text) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const said = (one) => (typeof one === "string" ? safe(one) : Number(one.toFixed(6)));
  const lines = [[corner, ...keys], ...cells.map((row, i) => [names[i], ...row])];
  if (stage.state.view === "map") {
    lines.splice(0, Infinity, ["row", stage.say("query"), "column", stage.say("key"), stage.say("weight")]);
    cells.forEach((row, i) => row.forEach((value, j) => lines.push([i, names[i], j, keys[j], value])));
  }
  return lines.map((line) => `${line.map(said).join(",")}\r\n`).join("");
}

async function packed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const blob = await new Response(stream).blob();
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1]);
    reader.readAsDataURL(blob);
  });
}

/** Adds all heads of a kind to the parts, a byte for each weight. */
async function heads({ part }, parts, address, [nLayers, nHeads]) {
  for (let layer = 0; layer < nLayers; layer++) {
    for (let head = 0; head < nHeads; head++) {
      const place = `${address}/${layer}/${head}`;
      parts[place] ??= await packed(await part(`${place}?bytes`));
    }
  }
}

/** The page (files.py) with the message and all maps. */
async function page({ host, sides, bytes, memory }) {
  const parts = { "": await packed(bytes) };
  const remotes = Object.values(sides).flatMap(({ told }) => told.recording.kinds.flatMap(({ remote }) => remote ?? []));
  for (const { address, byHead, shape } of remotes) {
    if (byHead) await heads(host, parts, address, shape);
    else parts[address] ??= await packed(await host.part(address));
  }
  const message = JSON.stringify({ place: memory, parts }).replaceAll("<", "\\u003c");
  return (await host.shell()).replace("@message@", () => message);
}

export function downloads(stage, close) {
  const { kind, host, state, told } = stage;
  const title = [stage.title.textContent, told.translation].filter(Boolean).join(" · ");
  const name = ["headlight", state.view, ...(kind ? [kind.code, ...kind.open] : [])].join("-");
  const items = {
    png: () => picture(stage, title, "png", name),
    svg: () => picture(stage, title, "svg", name),
    html: host.shell && (async () => save("headlight-stage.html", "text/html", await page(stage))),
    csv: stage.shown() && (() => save(`${name}.csv`, "text/csv", csv(stage))),
  };
  const item = ([what, make]) => make && button("item", stage.say(what), () => (close(), make()));
  return Object.entries(items).map(item);
}
