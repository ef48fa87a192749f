// The parts of the stage and where they stand, and what they say that changes with the translation alone.

import { Beside } from "./beside.js";
import { button, el, icon, menu, tabs } from "./dom.js";
import { Film } from "./film.js";
import { headColour } from "./lines.js";
import { code, downloads, form } from "./menus.js";
import { sampling } from "./sampling.js";
import { Steering } from "./steer.js";
import { Tiles } from "./tiles.js";

/** Builds a stage anew, as it is when its words have changed. */
export function build(stage) {
  const { told, whole, host } = stage;
  const { words } = told;
  const place = (name) => el(`div.hl-${name}`);
  clearInterval(stage.film?.playing);
  Object.assign(stage, {
    translation: el("p.hl-translation", { "data-testid": "stage-translation", dir: "auto", tabindex: "0" }),
    notes: el("p.hl-notes"),
    writing: el("div.hl-switches.hl-writing"),
    card: place("card"),
    title: el("h2.hl-title"),
    says: el("p.hl-says", { "aria-live": "polite" }),
    legend: place("legend"),
    switches: el("div.hl-switches", { hidden: true }),
    places: { kinds: place("kinds"), views: place("views"), measures: el("div"), versions: el("div") },
    film: new Film(stage),
    beside: whole.comparing ? new Beside(stage) : null,
  });
  const choose = (layer, head, focus, shift) =>
    (!focus && stage.steering?.tile(layer, head, shift)) || stage.open(layer, head, focus);
  stage.tiles = new Tiles(words, choose, (at) => stage.describe(at));
  const options = () => form(stage.told.options, words, stage.asks);
  stage.options = host.ask && menu("⚙", words.options, "stage-options", options);
  const hasCode = Object.keys(told.code).length > 0;
  const tools = [
    stage.options?.box,
    menu("⤓", words.download, "stage-download", (close) => downloads(stage, close)).box,
    hasCode && menu("⟨⟩", words.code, "stage-code", () => python(stage)).box,
    icon("▦", words.table, "stage-table", () => stage.choose({ table: !stage.state.table })),
  ];
  const { beside, places } = stage;
  const corner = stage.projector.button(words);
  const bar = el("div.hl-bar", {}, !beside && places.versions, places.views, el("div.hl-tools", {}, tools));
  if (beside) {
    const left = el("div.hl-left", {}, places.kinds, stage.tiles.box);
    const main = el("div.hl-main.hl-sides", {}, left, beside.strips);
    const about = el("div.hl-about", {}, bar, stage.title, stage.card);
    stage.root.replaceChildren(beside.texts, corner, stage.notes, main, about, beside.pictures, stage.says);
    return;
  }
  Object.assign(stage, { lines: stage.newLines(null, told.next ? 44 : undefined), map: stage.newMap() });
  const steering = whole.steering && host.act ? new Steering(stage) : null;
  stage.steering = steering;
  const head = el("div.hl-head", {}, stage.title, places.measures, bar);
  const left = [places.kinds, steering?.modes, stage.tiles.box, stage.film.box, stage.legend, stage.card];
  const right = [head, stage.switches, steering?.bar, stage.map.box, stage.says];
  const above = [steering?.before, stage.translation, corner, steering?.chips, stage.writing, stage.notes];
  const main = el("div.hl-main", {}, el("div.hl-left", {}, left), el("div.hl-right", {}, right));
  stage.root.replaceChildren(...[...above, stage.lines.box, steering?.menu, main].filter(Boolean));
}

export function fillIn(stage) {
  const { told, whole, state, places, beside } = stage;
  const { words, next } = told;
  const continued = sampling.text(stage);
  stage.translation.replaceChildren(...(next ? continued : [told.translation || words.nothing]));
  stage.translation.hidden = next ? !continued.length : told.translation === null; // null: a model that is not ours
  stage.writing.replaceChildren(...sampling.writing(stage));
  const changes = stage.steering || stage.version === "before" ? [] : (whole.steering?.chips ?? []);
  stage.notes.textContent = [...told.notes, ...changes.map(([, text]) => text)].join(" ");
  stage.notes.hidden = !stage.notes.textContent;
  stage.tabs = {};
  const bar = (name, code, options, chosen, choose) => {
    stage.tabs[name] = tabs(words[name], `data-${code}`, options, chosen, choose, `stage-${name}`);
    return stage.tabs[name].bar;
  };
  const kinds = told.kinds.map((kind) => [kind.code, kind.name]);
  const lines = [["head", words.this_head], ["layer", words.layer]];
  const views = stage.views().map((view) => [view, words[view]]);
  const versions = stage.versions.map((version) => [version, words[version]]);
  places.kinds.replaceChildren(
    bar("kinds", "kind", kinds, state.kind, (kind) => stage.choose({ kind })),
    beside ? places.versions : bar("lines", "lines", lines, state.lines, (one) => stage.choose({ lines: one })),
  );
  places.views.replaceChildren(bar("views", "view", views, state.view, (view) => stage.choose({ view, picture: 0 })));
  const turn = (version) => stage.turn(version);
  const several = versions.length > 1;
  places.versions.replaceChildren(...(several ? [bar("versions", "version", versions, stage.version, turn)] : []));
  stage.steering?.fillIn();
  beside?.fillIn();
  stage.options?.renew();
}

export function legend(stage) {
  const { legend, kind, state, told } = stage;
  legend.hidden = state.lines !== "layer" || !kind;
  if (legend.hidden) return;
  const head = (_, number) => {
    const flip = () => {
      if (!state.off.delete(number)) state.off.add(number);
      stage.choose({});
    };
    const look = { title: told.words.hide, style: `--hl-own: ${headColour(number)}` };
    return button("hl-plain", String(number), flip, { "aria-pressed": String(!state.off.has(number)), ...look });
  };
  legend.replaceChildren(...Array.from({ length: kind.layers[1] }, head));
}

function python({ kind, told, state }) {
  const name = { map: state.kind, mask: `mask ${state.kind}` }[state.view] ?? state.view;
  const { temperature, "top-k": top_k, "top-p": top_p } = state.chance ?? {};
  const place = { layer: kind?.open[0], head: kind?.open[1], temperature, top_k, top_p };
  return code(told.code[name] ?? "", place, told.words);
}
