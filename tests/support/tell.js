// What the stage shows of messages, as JSON: for Python tests, which compare it with what the model recorded. Answers
// every line of the standard input, [path of the message, options, path of the maps], with one line.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { align } from "../../viz/web/recording/maps/differences.js";
import { Effects } from "../../viz/web/recording/pictures/effects.js";
import { axisTokens } from "../../viz/web/recording/maps/axes.js";
import { fields, readOptions } from "../../viz/web/recording/message/options.js";
import { unpack } from "../../viz/web/recording/message/packed.js";
import { recordingOf } from "../../viz/web/recording/message/reading.js";
import { switchesOf } from "../../viz/web/recording/pictures/row.js";
import { rowPicture } from "../../viz/web/recording/pictures/row_picture.js";
import { fill } from "../../viz/web/recording/text/sentences.js";
import { Version, differenceOf } from "../../viz/web/recording/message/version.js";
import { fetchCatalogue, sentencesOf } from "../../viz/web/stage/main/words.js";

/**
 * @param {string} path  of the message
 * @param {string} options  JSON
 * @param {string} beside  path of the maps that did not travel
 * @returns {Promise<string>}
 */
async function tell(path, options, beside) {
  const maps = readFileSync(beside, "utf8");
  const message = unpack(Uint8Array.from(readFileSync(path)));
  const { language } = message;
  const part = async (/** @type {string} */ address) => {
    const bytes = Uint8Array.from(Buffer.from(JSON.parse(maps)[address], "base64"));
    return bytes.buffer;
  };
  if (!message.words.catalogue) await fetchCatalogue(message.words.address, part);
  const words = sentencesOf(message.words);
  /** @type {import("../../viz/web/recording/message/types.js").Say} */
  const say = (name, values = {}) => fill(words[name], values, language);

  /** @param {import("../../viz/web/recording/message/payloads.js").VersionPayload} told */
  const versionOf = (told) =>
    new Version(told, readOptions(JSON.parse(options)), { part, speech: { say, language } }, recordingOf(told.recording, part));

  /** @param {unknown} value @returns {unknown} */
  const plain = (value) => {
    if (ArrayBuffer.isView(value)) return Array.from(/** @type {Float32Array} */ (value), Number);
    if (Array.isArray(value)) return value.map(plain);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
    return value;
  };

  /** @param {import("../../viz/web/recording/maps/kind.js").Kind} kind */
  function kindOf(kind) {
    const { code, name, title, layerNames, headNames, single, signed, plain: isPlain, inside, steps, stretch } = kind;
    const { queries, keys, dull, tiles, entropy, largest, telling, first, source, target, start, startRow, limit } = kind;
    const said = kind.plain || kind instanceof Effects ? null : ofPlaces(kind, (place) => ((kind.open = place), kind.note));
    kind.selection = undefined;
    const before = { known: kind.loaded, has: kind.has(...kind.first), opened: kind.map(...kind.first) };
    return {
      ...{ code, name, title, layerNames, headNames, single, signed, plain: isPlain, inside, steps, stretch, limit, said },
      ...{ queries, keys, dull, tiles, entropy, largest, telling, first, source, target, start, startRow, ...before },
      ...{ weights: kind.loaded && kind.mapData.weights, shown: kind.visible, removed: kind.removed, look: kind.look },
      roles: kind.about.roles && kind.single ? ofPlaces(kind, (place) => kind.role(place)) : null,
      ...(kind instanceof Effects && { did: kind.did, mostDone: kind.mostDone, measured: kind.statistics, effect: kind.effect }),
    };
  }

  /** @param {import("../../viz/web/recording/maps/kind.js").Kind} kind @param {(place: [number, number]) => unknown} make */
  const ofPlaces = (kind, make) =>
    kind.layerNames.map((_, layer) => kind.headNames.map((_, head) => make([layer, head])));

  /** How a row is computed, with the switches among the options. @param {Version} version */
  function insideOf({ inside, recording, options: { rows } }) {
    if (!inside) return inside;
    const tokens = axisTokens(recording, inside.place.kind, rows);
    return { ...inside, ...rowPicture(inside, switchesOf(JSON.parse(options)), tokens, { say, language }) };
  }

  /** @param {Version} version */
  function told(version) {
    const { translation, source, target, kinds, notes, next } = version;
    const inside = insideOf(version);
    const { reason, kinds: ofEffects, view } = version.effects ?? {};
    const effects = version.effects && {
      ...(reason && { reason }),
      ...(ofEffects && { kinds: Object.fromEntries(Object.entries(ofEffects).map(([c, kind]) => [c, kindOf(kind)])) }),
      ...(view && { against: view.against, choices: view.choices, notes: view.notes, step: view.step, parts: view.parts }),
      ...Object.fromEntries(["lens", "left-out", "agree"].flatMap((name) => (view?.has(name) ? [[name, view.picture(name)]] : []))),
    };
    const views = { mask: version.views.mask, positions: version.views.positions, words: version.views.words };
    for (const kind of kinds) kind.open = [kind.layerNames.length - 1, kind.headNames.length - 1]; // their last head
    const code = Object.fromEntries(
      kinds.flatMap((kind) => [[kind.code, version.codeOf("map", kind)], [`mask ${kind.code}`, version.codeOf("mask", kind)]]),
    );
    const more = { positions: version.codeOf("positions", null) };
    for (const kind of kinds) kind.selection = undefined;
    return { translation, source, target, notes, inside, next, effects, views, kinds: kinds.map(kindOf), code: { ...version.payload.code, ...code, ...more } };
  }

  const isFetching = Object.keys(JSON.parse(maps)).some((address) => address !== message.words.address);
  const after = versionOf(message.after);
  for (const kind of after.kinds) if (isFetching || kind.waits) await kind.fetchAll();
  const { before: _, after: __, ...whole } = message;
  const [opened] = after.kinds;
  const controls = fields(readOptions(JSON.parse(options)), opened?.hasRowChoice ? opened.rowNaming : null, say);
  const answer = { ...whole, words, options: controls, ...told(after) };
  if (message.before) {
    const before = versionOf(message.before);
    const difference = differenceOf(before, after, Boolean(message.comparing));
    difference.difference = message.comparing?.program ?? null;
    Object.assign(answer, { before: told(before), difference: told(difference) });
    const both = difference.kinds.map((kind) => {
      const [old, now] = [before, after].map((one) => one.kinds.find(({ code }) => code === kind.code)?.tokens);
      return [kind.code, old && now && align(old, now)];
    });
    if (message.comparing) answer.comparing = { ...message.comparing, aligned: Object.fromEntries(both) };
  }
  return JSON.stringify(plain(answer), (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value));
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path, options, beside] = JSON.parse(line);
  process.stdout.write(`${await tell(path, options, beside)}\n`);
}
