// What of the model carries the difference of two texts: boards of shares, and what the text becomes with a part of the
// other one in it.

import { tokenNames, label, visible } from "../../recording/text/text.js";
import { button, copyText, dress, el, labelAttributes, setChildren } from "../frame/dom.js";
import { menu, tabs } from "../frame/widgets.js";
import { fill } from "../../recording/text/sentences.js";
import { ShareBoard, mostOf, scaleOn, sharesOfHeads, sharesOfPositions } from "./boards.js";
import { nameOf } from "./names.js";
import { PatchingNumbers, partOfHeads, strongest } from "./numbers.js";

/** @typedef {import("./payload.js").PatchingPayload} PatchingPayload */
/** @typedef {import("./numbers.js").PartName} PartName */
/** @typedef {import("./boards.js").Shares} Shares */
/** @typedef {import("../main/stage.js").Stage} Stage */

const KINDS = ["cross", "encoder_self", "decoder_self"];
const WHAT = ["both", "weights", "values"];
const SUBLAYERS = ["attention", "cross", "feed-forward"];
const LITTLE = 0.1; // a share below which no head is said to carry the word

export class PatchingPanel {
  /** What of a head is put there. */
  what = "both";
  /** What is put there at one position: the stream, or what a sublayer writes. */
  part = "stream";
  /** The code of the cell that had the focus when it was clicked: a message takes it away. */
  focused = "";
  /** Whether the first message has been shown. */
  hasOpened = false;
  /** What the controls were built of. */
  built = "";
  /** @type {Map<string, ShareBoard>} by kind or side */ boards = new Map();

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.numbers = new PatchingNumbers(stage, () => this.render());
    const asked = String(stage.host.read().what ?? "");
    if (WHAT.includes(asked)) this.what = asked;
    this.heading = el("h2.answer#patching-answer", { "aria-live": "polite" });
    this.controls = el("div.patching-controls");
    this.heads = el("div.patching-heads#patching-heads");
    this.positions = el("div.patching-positions#patching-positions");
    this.scale = el("div.patching-scale#patching-scale");
    this.progress = el("div.patching-progress", { role: "status" });
    this.hint = el("p.label");
    this.changes = el("div.chips#changes", { role: "group" });
    this.box = el(
      "section.patching#patching",
      { hidden: true },
      [this.heading, this.controls, el("div.patching-pictures", this.heads, el("div", this.positions, this.scale))],
    );
    this.reason = el("p.label#patching-reason", { hidden: true });
    new ResizeObserver(() => this.fitWidth()).observe(this.box);
  }

  get payload() {
    return this.numbers.payload;
  }

  get comparing() {
    return this.stage.message.comparing;
  }

  /** Takes what a message says. */
  fillIn() {
    this.numbers.take(this.comparing?.patching);
    if (!this.hasOpened) this.openNamed();
    this.hasOpened = true;
    this.render();
    if (this.focused && document.activeElement === document.body) {
      /** @type {HTMLElement | null} */ (this.box.querySelector(`[data-code="${this.focused}"]`))?.focus({ preventScroll: true });
    }
    this.focused = "";
  }

  /** Opens the head that the heading names, for a visitor who has opened none. */
  openNamed() {
    const { stage, payload } = this;
    const asked = { ...stage.memory, ...stage.host.read() };
    const best = payload && strongest(payload, this.what);
    const kind = best && stage.kinds.get(best.kind);
    if (!kind || stage.message.setting || asked.kind || (asked.layer ?? null) !== null) return;
    const place = kind.placeOf([best.layer, best.head]);
    if (!kind.holds(place)) return;
    stage.state.kind = best.kind;
    kind.open = place;
  }

  /** The letters of the text that parts are taken from, and of the one that they are put into. */
  get letters() {
    return this.numbers.reverse ? { donor: "B", own: "A" } : { donor: "A", own: "B" };
  }

  render() {
    const { numbers, payload, box, reason } = this;
    reason.hidden = !numbers.reason;
    reason.textContent = numbers.reason;
    box.hidden = !numbers.isThere || Boolean(numbers.reason && !payload);
    this.renderChanges();
    if (box.hidden) {
      this.hint.textContent = "";
      return;
    }
    setChildren(this.heading, this.answer());
    this.renderControls();
    this.renderProgress();
    dress(box, { stale: !payload }); // until their numbers are there, the pictures are those of the texts before
    if (payload) this.renderPictures(payload);
    numbers.fetch(this.wanted);
  }

  /** What the pictures that are open need, the most important first. @returns {PartName[]} */
  get wanted() {
    return [partOfHeads(this.what), "streams", ...(this.part === "stream" ? [] : /** @type {PartName[]} */ (["sublayers"]))];
  }

  /** The words that are compared, the first of them that of the text that parts are taken from. @param {PatchingPayload} payload */
  words({ words, reverse }) {
    const [answer, against] = tokenNames(words).map(visible);
    return reverse ? { answer: against, against: answer } : { answer, against };
  }

  /** The answer in one sentence, computed. */
  answer() {
    const { payload, numbers, what } = this;
    const { say } = this.stage;
    if (!payload) return say("computing");
    const words = this.words(payload);
    const isEstimate = numbers.isEstimate(partOfHeads(what));
    const best = strongest(payload, what);
    if (!best) return say("patching_measuring", words);
    const head = say(`patching_head_${best.kind}`, { head: `${best.layer}.${best.head}` });
    const values = { ...words, head, share: best.share };
    if (best.share < LITTLE) return say("patching_nothing", values);
    const text = say(isEstimate ? "patching_estimated" : `patching_${what}`, values);
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  }

  renderControls() {
    const { stage, what, part, controls } = this;
    const { say, host } = stage;
    const { ofHead, parts } = this.offered();
    const key = JSON.stringify([stage.language, what, part, this.numbers.reverse, ofHead, parts]);
    if (key === this.built) return;
    this.built = key;
    const named = {
      patching_into: say("patching_into"),
      patching_what: say("patching_what"),
      patching_part: say("patching_part"),
    };
    const ways = /** @type {[string, string][]} */ ([["b", say("patching_a_into_b")], ["a", say("patching_b_into_a")]]);
    const turn = (/** @type {Record<string, string>} */ { into }) => host.ask?.({ into: into === "a" ? "a" : null, patch: null });
    const ofHeads = /** @type {[string, string][]} */ (ofHead.map((name) => [name, say(`patching_of_${name}`)]));
    const ofPlaces = /** @type {[string, string][]} */ (parts.map((name) => [name, say(`patching_part_${name.replace("-", "_")}`)]));
    setChildren(
      controls,
      host.ask && tabs(named, "patching_into", "into", ways, this.numbers.reverse ? "a" : "b", turn),
      tabs(named, "patching_what", "what", ofHeads, what, (choice) => this.choose(choice)),
      tabs(named, "patching_part", "part", ofPlaces, part, (choice) => this.choose(choice)),
      this.progress,
      menu("patching_code", say("code"), say("code"), () => this.code()),
    );
  }

  /** What can be chosen: of a file that was saved only what it holds. */
  offered() {
    const { payload, numbers } = this;
    const { heads = {}, sublayers = {}, kinds = [] } = payload ?? {};
    const isThere = (/** @type {Record<string, Record<string, any>>} */ all, /** @type {string} */ name) =>
      Boolean(numbers.address) || Object.values(all).some((one) => one[name]);
    const written = SUBLAYERS.filter((name) => (name !== "cross" || kinds.includes("cross")) && isThere(sublayers, name));
    return { ofHead: WHAT.filter((name) => isThere(heads, name)), parts: ["stream", ...written] };
  }

  /** @param {Record<string, string>} choice  of what is put there */
  choose(choice) {
    Object.assign(this, choice);
    this.stage.host.write({ what: this.what === WHAT[0] ? null : this.what });
    this.render();
  }

  /** The Python of what is shown. */
  code() {
    const text = fill(this.payload?.code ?? "", { what: this.what });
    return [el("pre", { tabindex: "0" }, text), button("plain", this.stage.say("copy"), () => copyText(text))];
  }

  /** How far the numbers are, and what stops them. */
  renderProgress() {
    const { numbers, progress, payload } = this;
    const { say } = this.stage;
    const hasSome = Boolean(payload && Object.keys(payload.heads).length);
    const missing = this.wanted.some((part) => !numbers.exact.has(part));
    if (!payload || !missing || !numbers.address) return setChildren(progress);
    const isStopped = numbers.isStopped;
    const name = isStopped ? "patching_stopped" : "patching_progress";
    const text = say(hasSome ? name : `${name}_only`, { share: numbers.share });
    const turn = isStopped
      ? button("plain", say("patching_go_on"), () => numbers.goOn())
      : button("plain", say("patching_stop"), () => numbers.stop());
    setChildren(progress, el("span.label", text), this.stage.host.ask && turn);
  }

  /** @param {PatchingPayload} payload */
  renderPictures(payload) {
    const { stage, numbers, what, part, letters } = this;
    const { say } = stage;
    const kinds = KINDS.filter((kind) => payload.heads[kind]?.[what]);
    const areHeads = numbers.isEstimate(partOfHeads(what));
    const heads = kinds.map((kind) => sharesOfHeads(stage, payload, kind, what, areHeads));
    const numbersOf = part === "stream" ? payload.streams : payload.sublayers;
    const sides = Object.keys(payload.tokens).filter((side) => (part === "stream" ? numbersOf[side] : numbersOf[side]?.[part]));
    const arePositions = numbers.isEstimate(part === "stream" ? "streams" : "sublayers");
    const positions = sides.map((side) => sharesOfPositions(stage, payload, side, part, arePositions));
    const most = mostOf([...heads, ...positions]);
    const patched = this.comparing?.patched?.codes ?? [];
    setChildren(this.heads, kinds.map((kind, i) => this.board(kind, heads[i], most, patched)));
    this.markNamed(payload);
    setChildren(this.positions, sides.map((side, i) => this.board(side, positions[i], most, patched)));
    this.fit(kinds, sides);
    this.fitWidth();
    this.renderScale(most);
    const hasHatched = Object.values(payload.unaligned).some((places) => places.length);
    const hints = [stage.host.act && say("patching_hint", letters), hasHatched && say("patching_left_alone", letters)];
    this.hint.textContent = hints.filter(Boolean).join(" ");
  }

  /** Frames the head that the heading names. @param {PatchingPayload} payload */
  markNamed(payload) {
    const best = strongest(payload, this.what);
    for (const [name, { board }] of this.boards) {
      for (const cell of board.cells.flat()) {
        const isNamed = best?.kind === name && cell.dataset.layer === String(best.layer) && cell.dataset.head === String(best.head);
        dress(cell, { named: isNamed });
      }
    }
  }

  /** @param {string} name @param {Shares} shares @param {number} most @param {string[]} patched */
  board(name, shares, most, patched) {
    const board = this.boards.get(name) ?? new ShareBoard(this.stage, (code) => this.put(code));
    this.boards.set(name, board);
    board.show(shares, most, patched);
    if (name in (this.payload?.tokens ?? {})) {
      board.box.style.flexGrow = String(Math.max(2, this.payload?.tokens[name].length ?? 1) + 2);
    }
    return board.box;
  }

  /** Gives all boards the same height of cells, as much as the window has room for. @param {string[]} kinds @param {string[]} sides */
  fit(kinds, sides) {
    const rowsOf = (/** @type {string} */ name) => this.boards.get(name)?.shares.values.length ?? 1;
    const rows = kinds.reduce((sum, kind) => sum + rowsOf(kind), 0);
    const room = Math.max(200, Math.min(460, innerHeight * 0.42));
    const free = room - kinds.length * 40;
    const ofHeads = Math.max(8, Math.min(24, Math.floor(free / Math.max(1, rows))));
    for (const kind of kinds) this.boards.get(kind)?.board.fit(Infinity, ofHeads);
    for (const side of sides) this.boards.get(side)?.board.fit(Infinity, Math.max(8, Math.min(44, Math.floor((room - 60) / rowsOf(side)))));
  }

  fitWidth() {
    for (const board of this.boards.values()) if (board.box.isConnected) board.fitWidth();
  }

  /** What the colours mean, in words. @param {number} most */
  renderScale(most) {
    const { stage, letters, scale } = this;
    const { say } = stage;
    const all = scaleOn(stage.isDark);
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${all[Math.round(share * (all.length - 1))].join(" ")})`);
    const bar = el("div.bar-of-colours", { style: `background: linear-gradient(to right, ${stops.join(", ")})` });
    const high = say(Math.round(100 * most) > 100 ? "patching_scale_beyond" : "patching_scale_high", { ...letters, most });
    const texts = [say("patching_scale_low", { ...letters, most }), say("patching_scale_middle", letters), high];
    setChildren(scale, bar, el("div.patching-ends", texts.map((text) => el("span", text))));
  }

  /** Puts a part of the other text in, or takes it out, and opens the head that it is of. @param {string} code */
  put(code) {
    const { stage } = this;
    const head = /^p[wv]?([edc])(\d+)-(\d+)$/.exec(code);
    const kind = head && [...stage.kinds.values()].find(({ code: name }) => name[0] === head[1]);
    if (head && kind) {
      stage.choose({ kind: kind.code });
      const place = kind.placeOf([Number(head[2]), Number(head[3])]);
      if (kind.holds(place)) stage.open(place);
    }
    this.focused = code;
    stage.host.act?.({ do: "patch", code });
  }

  /** Whether something is put in, or could not be. */
  get isPatched() {
    return Boolean(this.comparing?.patched);
  }

  /** Fills the line of what was put in: chips, and what became of both words. */
  renderChanges() {
    const { stage, comparing } = this;
    const { say } = stage;
    const patched = comparing?.patched;
    if (!patched) return;
    const { act } = stage.host; // a file has none
    const { codes, problem } = patched;
    const chips = codes.map((code) => {
      const text = nameOf(code, this.payload, say);
      if (!act) return el("span.cost", text);
      const about = { "data-code": code, ...labelAttributes(say("take_back", { change: text })) };
      return button("chip", `${text} ×`, () => act({ do: "drop", code }), about);
    });
    const isSame = comparing.words.every(([before, after]) => before === after);
    this.changes.ariaLabel = say("changes");
    setChildren(
      this.changes,
      chips,
      codes.length > 0 && isSame && el("span.cost", say("patching_same_words")),
      codes.length > 0 && el("span.cost#patching-probabilities", this.probabilities(patched)),
      act && codes.length > 1 && button("plain", say("reset_all"), () => act({ do: "reset" })),
      problem && el("span.problem", { role: "alert" }, problem),
    );
  }

  /** What became of the probabilities of both words. @param {import("./payload.js").PatchedPayload} patched */
  probabilities({ probabilities }) {
    const { payload } = this;
    if (!probabilities || !payload) return "";
    const [[old, old_other], [now, now_other]] = probabilities;
    const [answer, against] = payload.words.map((word) => visible(label(word)));
    return this.stage.say("patching_probabilities", { answer, against, old, new: now, old_other, new_other: now_other });
  }

  /** A message with all numbers that were fetched since it came. @template {import("../main/message.js").Message} M @param {M} message @returns {M} */
  complete(message) {
    const { payload, numbers } = this;
    if (!payload || !message.comparing) return message;
    const { address, ...known } = payload;
    const estimate = numbers.isEstimate("heads both") || numbers.isEstimate("streams");
    return { ...message, comparing: { ...message.comparing, patching: { ...known, estimate } } };
  }
}
