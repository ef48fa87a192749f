// A recording as the stage shows it: its two lines of tokens, its kinds of attention, the pictures beside the maps.

import { Effects } from "../pictures/effects.js";
import { EffectsView, statisticsTexts } from "../pictures/effects_view.js";
import { specialTokens } from "../maps/axes.js";
import { Kind } from "../maps/kind.js";
import { NextWords } from "../pictures/next_words.js";
import { candidates } from "../pictures/pictures.js";
import * as python from "./python.js";
import { fill } from "../text/sentences.js";
import { label, tokenNames } from "../text/text.js";
import { continuations } from "../text/tokens.js";
import { viewNames, viewsOf } from "./views.js";

/** @typedef {import("./payloads.js").VersionPayload} VersionPayload */

/**
 * @typedef {object} Host
 * @property {import("../pictures/looks.js").Speech} speech
 * @property {import("./remote.js").Part} part  fetches maps that did not travel
 */

/** @param {string[]} tokens @param {boolean[]} special */
const lineOf = (tokens, special) => ({ tokens: tokenNames(tokens), continues: continuations(tokens), special });

export class Version {
  /**
   * @param {VersionPayload} payload
   * @param {import("./types.js").Options} options
   * @param {Host} host
   * @param {import("./types.js").Recording} recording  unpacked
   */
  constructor(payload, options, host, recording) {
    this.payload = payload;
    this.notes = payload.notes;
    this.inside = payload.inside;
    this.predicts = payload.predicts;
    this.next = payload.next && new NextWords(payload.next, host.speech);
    this.options = options;
    this.host = host;
    this.recording = recording;
    const { target_tokens: targetTokens, predicted_tokens: predicted, log_probabilities: logs } = recording;
    this.translation = recording.text;
    this.source = lineOf(recording.source_tokens, specialTokens(recording, "encoder_self", "read").queries);
    this.target = {
      ...lineOf(
        predicted.length ? predicted : targetTokens,
        specialTokens(recording, "decoder_self", predicted.length ? "predicted" : "read").queries,
      ),
      start: targetTokens.slice(0, 1).map(label).join(" "),
      isStartSpecial: Boolean(specialTokens(recording, "decoder_self", "read").queries[0]),
      probability: logs && Array.from(logs, Math.exp),
      entropy: recording.candidates?.entropy ?? null,
      candidates: candidates(recording),
      late: Number(!predicted.length),
    };
    this.kinds = recording.kinds.map((attention) => new Kind(this.about(attention)));
    this.views = viewsOf(this);
    this.viewNames = viewNames(recording);
    /** @type {python.Program | null} that makes both results, `a` and `b` */
    this.difference = null;
    /** @type {import("../pictures/effects_view.js").ShownEffects | null} */
    this.effects = null;
    const effectsPayload = this.effectsPayload;
    const view = effectsPayload && new EffectsView(effectsPayload, recording, host.speech);
    const kinds = effectsPayload && view && this.effectKinds(effectsPayload, view.step);
    if (kinds) this.effects = { kinds, view };
    else if (payload.effects && "reason" in payload.effects) this.effects = payload.effects;
  }

  /** @param {import("./types.js").Attention} attention */
  about(attention) {
    const { payload, options, host, recording } = this;
    const { code } = attention;
    const { names, rules, rowwise } = payload;
    return {
      recording,
      attention,
      options,
      speech: host.speech,
      roles: payload.roles[code],
      rules,
      firstHead: payload.first[code],
      rowwise,
      names,
    };
  }

  get effectsPayload() {
    const { effects } = this.payload;
    return effects && "logits" in effects ? effects : null;
  }

  /**
   * @param {import("../pictures/effects_view.js").EffectsPayload} payload
   * @param {number} step  that is looked at first
   * @returns {Record<string, Effects> | null}
   */
  effectKinds(payload, step) {
    const { recording } = this;
    const kinds = recording.kinds.filter(({ effects }) => effects);
    if (!kinds.length) return null;
    const entries = kinds.map((attention) => {
      const statistics =
        this.options.summary === "single" ? statisticsTexts(payload, attention.code, this.host.speech.say) : undefined;
      const weights = this.kinds.find(({ code }) => code === attention.code);
      return [attention.code, new Effects({ ...this.about(attention), statistics, weights, step })];
    });
    return Object.fromEntries(entries);
  }

  /**
   * The Python that makes a picture again; "" where there is none.
   * @param {string} view
   * @param {Kind | null} kind
   */
  codeOf(view, kind) {
    const { payload, recording, options } = this;
    const { program } = payload;
    const names = { map: kind?.code, mask: `mask ${kind?.code}` };
    const name = (view === "map" || view === "mask" ? names[view] : view) ?? "";
    const code = this.effectsPayload?.code?.[name] ?? payload.code[name];
    if (code && (view !== "map" || kind?.effect)) {
      const [layer, head] = kind?.open ?? [];
      return fill(code, { layer, head });
    }
    if (!program) return "";
    if (kind?.about.before) return python.ofDifference(kind, this.difference ?? program);
    if (view === "map" && kind && !kind.effect) {
      return python.ofMap(recording, kind.about.attention, kind.open, options, kind.titles, kind.value, program);
    }
    if (view === "mask" && kind) return python.ofMask(recording, kind.code, options.rows, kind.titles, program);
    return view === "positions" && recording.source_tokens.length ? python.ofPositions(program) : "";
  }
}

/**
 * The difference of two versions, on the axes of the second.
 * @param {Version} before
 * @param {Version} after
 * @param {boolean} replaced  tokens that replace each other are compared, too
 */
export function differenceOf(before, after, replaced) {
  /** @param {Kind[]} old @param {Kind[]} now */
  const between = (old, now) =>
    now.flatMap((kind) => {
      const counterpart = old.find(({ code }) => code === kind.code);
      const Of = kind instanceof Effects ? Effects : Kind;
      return counterpart ? [new Of({ ...kind.about, roles: null, firstHead: null, before: counterpart, replaced })] : [];
    });
  const version = new Version({ ...after.payload, inside: null, effects: null }, after.options, after.host, after.recording);
  version.kinds = between(before.kinds, after.kinds);
  Object.assign(version, { views: { mask: [], positions: [], words: [] }, viewNames: [] });
  const oldEffects = before.effects;
  const newEffects = after.effects;
  if (oldEffects?.kinds && newEffects?.kinds) {
    const kinds = between(Object.values(oldEffects.kinds), Object.values(newEffects.kinds));
    version.effects = { kinds: Object.fromEntries(kinds.map((kind) => [kind.code, kind])) };
  } else version.effects = oldEffects?.kinds ? newEffects : oldEffects;
  return version;
}
