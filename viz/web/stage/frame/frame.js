// The parts of the stage, where they stand, and what changes in them with the translation.

import { codesOf, fields } from "../../recording/message/options.js";
import { renderCuts } from "../changes/cuts.js";
import { Beside } from "../lines/beside.js";
import { button, el, icon, setChildren } from "./dom.js";
import { menu, tabs } from "./widgets.js";
import { downloads } from "./file.js";
import { Film } from "./film.js";
import { Fold } from "./fold.js";
import { headColour } from "../lines/head_lines.js";
import { Lines } from "../lines/lines.js";
import { LargeMap } from "../map/map.js";
import { PatchingPanel } from "../patching/panel.js";
import { code, form } from "./menus.js";
import { sampling } from "../changes/sampling.js";
import { isNarrow } from "./size.js";
import { Steering } from "../changes/steer.js";
import { Tiles } from "../tiles/tiles.js";
import { WhyBox } from "../map/why_box.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

const LOW = 32; // pixels between two lines of tokens on a narrow page, or without a source

/** Builds all parts; again when the language has changed. @param {Stage} stage */
export function build(stage) {
  const { result, message, host, words } = stage;
  clearInterval(stage.film?.playing ?? undefined);
  const names = message.comparing ? Object.keys(stage.sides) : ["after"];
  const versions = /** @type {import("../main/state.js").VersionName[]} */ (names);
  const height = isNarrow(stage) || !result.source.tokens.length ? LOW : undefined;
  stage.parts = {};
  for (const version of versions) {
    const lines = version === "difference" ? null : new Lines(stage, version, height);
    const boxes = { title: el("h3.title"), says: el("p.lacks"), slot: el("section#side", { "data-version": version }) };
    stage.parts[version] = { version, result, kind: null, lines, map: new LargeMap(stage, version), ...boxes };
  }
  Object.assign(stage, {
    tabs: {},
    translation: el("p.translation#translation", { dir: "auto", tabindex: "0" }),
    notes: el("p.notes"),
    writing: el("div.switches.writing"),
    card: el("div.card"),
    numbers: el("details.numbers", el("summary", words.numbers)),
    title: el("h2.title"),
    says: el("p.says", { "aria-live": "polite" }),
    crumbs: el("nav.crumbs#crumbs", { "aria-label": words.why_way }),
    whyBox: new WhyBox(stage),
    cutBox: el("section.cuts#cuts", { hidden: true, tabindex: 0 }),
    legend: el("div.legend"),
    switches: el("div.switches", { hidden: true }),
    places: { kinds: el("div.kinds"), views: el("div.views"), measures: el("div"), versions: el("div.versions") },
    film: new Film(stage),
    fold: new Fold(stage),
    tiles: new Tiles(stage),
    beside: message.comparing ? new Beside(stage) : null,
    patching: message.comparing ? (stage.patching ?? new PatchingPanel(stage)) : null,
    options: menu("options", words.options, words.options, () => form(optionFields(stage), words, (codes) => stage.turnMaps(codes))),
  });
  const hasCode = result.payload.program || Object.keys(result.payload.code).length > 0;
  const tools = [
    stage.options,
    menu("download", words.download, words.download, (close) => downloads(stage, close)),
    hasCode && menu("code", words.code, words.code, () => code(stage)),
    icon("#table", words.table, words.table, () => stage.choose({ table: !stage.state.table })),
  ];
  const { beside, patching, places, tiles, lines, map, fold } = stage;
  const corner = stage.projector.button();
  const bar = el("div.bar", places.views, el("div.tools", tools));
  const ofTiles = el("div.above.of-tiles");
  const ofPicture = el("div.above.of-picture");
  if (beside) {
    setChildren(ofTiles, places.kinds, tiles.bar);
    setChildren(ofPicture, el("div.head", bar, stage.title), el("div.settings", stage.switches));
    const main = el("div.main.sides", fold.button, ofTiles, ofPicture, el("div.left", tiles.place), beside.strips);
    const ofPatching = [patching?.reason, patching?.box];
    setChildren(stage.root, beside.texts, corner, stage.notes, ofPatching, main, beside.pictures, stage.says, stage.card);
    return;
  }
  const steering = (stage.steering = message.steering && host.act ? new Steering(stage) : null);
  setChildren(ofTiles, places.kinds, steering?.switches.box, tiles.bar);
  const settings = el("div.settings", places.versions, stage.switches, steering?.bar);
  setChildren(ofPicture, bar, steering && settings);
  const left = el("div.left", tiles.place, stage.film.box, stage.legend, stage.card);
  const head = el("div.head", el("div.titles", stage.crumbs, stage.title), places.measures);
  const right = el("div.right", head, !steering && settings, stage.cutBox, stage.whyBox.box, map.box, stage.says);
  const above = [stage.translation, steering?.before, corner, steering?.chips, stage.writing, stage.notes];
  const main = el("div.main", fold.button, ofTiles, ofPicture, left, right);
  setChildren(stage.root, above, lines.box, steering?.wordMenu.box, main);
}

/** Writes what changes with the message. @param {Stage} stage */
export function fillIn(stage) {
  const { result, message, places, beside, words } = stage;
  const { next } = result;
  /** @type {import("./dom.js").Children} */
  let text = result.translation === "" ? words.nothing : result.translation; // null: of a model that is not ours
  if (next?.continued) text = [result.translation, el("span.written", next.continued)];
  else if (next) text = sampling.answer(stage);
  setChildren(stage.translation, text);
  stage.translation.hidden = !text;
  setChildren(stage.writing, sampling.writing(stage));
  const changes = !stage.steering && stage.version !== "before" && message.steering?.chips.map(([, text]) => text);
  stage.notes.textContent = [...result.notes, ...(changes || []), inBytes(stage)].filter(Boolean).join(" ");
  const { versions, version } = stage;
  /** @type {[string, string][]} */
  const kinds = result.kinds.map((kind) => [kind.code, kind.name]);
  /** @type {[string, string][]} */
  const lines = [["head", words.this_head], ["layer", words.layer]];
  /** @typedef {Partial<import("../main/state.js").OpenState>} Change */
  const choose = (/** @type {Change} */ change) => stage.choose(change);
  renewTabs(stage, "kinds", "kind", kinds, choose);
  renewTabs(stage, "lines", "lines", lines, choose);
  renewTabs(stage, "views", "view", stage.views(), (change) => choose({ ...change, picture: 0 }));
  setChildren(places.kinds, stage.tabs.kind, beside ? places.versions : stage.tabs.lines);
  setChildren(places.views, stage.tabs.view);
  const turn = (/** @type {Change} */ change) => stage.turn(change);
  setChildren(places.versions, versions.length > 1 && tabs(words, "versions", "version", versions, version, turn));
  stage.steering?.fillIn();
  renderCuts(stage);
  stage.patching?.fillIn();
  beside?.fillIn();
  const count = Object.values(codesOf(stage.mapOptions)).filter((code) => code !== null).length;
  stage.options?.renew(count ? stage.say("options_set", { n: count }) : words.options);
}

/**
 * Builds tabs again only where they offer something else, so that a focus on one of them stays.
 * @param {Stage} stage
 * @param {string} part
 * @param {"kind" | "lines" | "view"} name
 * @param {(string | [string, string])[]} options
 * @param {(change: Record<string, string>) => unknown} choose
 */
function renewTabs({ tabs: all, words, state }, part, name, options, choose) {
  const offered = JSON.stringify(options);
  if (all[name]?.offered === offered) return;
  all[name] = Object.assign(tabs(words, part, name, options, state[name], choose), { offered });
}

/** Names the heads whose lines are drawn. @param {Stage} stage */
export function legend(stage) {
  const { legend, kind, state } = stage;
  const head = (/** @type {string} */ _, /** @type {number} */ number) => {
    const flip = () => {
      if (!state.off.delete(number)) state.off.add(number);
      stage.choose({});
    };
    const look = { title: stage.say("hide"), style: `--hl-own: ${headColour(number)}` };
    return button("plain", String(number), flip, { "aria-pressed": String(!state.off.has(number)), ...look });
  };
  setChildren(legend, state.lines === "layer" && kind?.headNames.map(head));
}

/** A sentence about a file with many maps: that a weight is one byte, and how large it is. @param {Stage} stage */
function inBytes(stage) {
  const isByHead = [...stage.kinds.values()].some(({ byHead }) => byHead);
  return isByHead && stage.host.size && stage.say("in_bytes", { size: Math.ceil(stage.host.size / 1e6) });
}

/** @param {Stage} stage */
const optionFields = ({ kind, mapOptions, say }) =>
  fields(mapOptions, kind?.hasRowChoice ? kind.rowNaming : null, (name) => say(name));
