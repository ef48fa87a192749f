// The view Circuit: its controls, the picture of heads, what the answer keeps of them, and what a click in it opens.

import { keptShares, prune } from "../../recording/pictures/circuit.js";
import { neighbour } from "../../recording/pictures/circuit_layout.js";
import { DARK, LIGHT, SIDE_COLOURS, circuitSvg } from "../../recording/pictures/circuit_picture.js";
import { button, dress, el, keepFocus, setChildren } from "../frame/dom.js";
import { arrows } from "../frame/widgets.js";
import { isNarrow } from "../frame/size.js";
import { CircuitControls } from "./controls.js";
import { headDetail, linkDetail, linkName, openHead } from "./detail.js";
import { drawingOf, headName, openKey, queryOfWord, shownOf } from "./drawing.js";
import { CircuitNumbers } from "./numbers.js";
import { choose, leastOf } from "./state.js";

/** @typedef {import("../../recording/pictures/circuit.js").CircuitPayload} CircuitPayload */
/** @typedef {import("../../recording/pictures/circuit_picture.js").Drawing} Drawing */
/** @typedef {import("./drawing.js").Shown} Shown */
/** @typedef {import("../main/stage.js").Stage} Stage */

const [LOWEST, LOWEST_NARROW, HIGHEST] = [230, 250, 560]; // pixels of the picture
const UNDER = 168; // pixels of what stands under it in the window
const PAUSE = 500; // ms that the slider rests before what the answer keeps is asked for
const LISTED = 60; // lines

export class CircuitBox {
  /** @type {Shown} */ shown = { circuit: null, pruned: { nodes: [], edges: [] }, graph: null, links: [], faint: [], n: 0, lit: new Set(), open: "" };
  /** @type {Drawing | null} */ drawing = null;
  /** Why there is nothing to draw. */
  reason = "";
  waiting = 0;
  /** @type {number | null} the share while the slider moves */ moving = null;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const { say } = stage;
    this.numbers = new CircuitNumbers(stage, () => this.isOpen && stage.renderTitle());
    this.controls = new CircuitControls(stage, (least) => this.slide(least));
    const onclick = (/** @type {MouseEvent} */ event) => this.click(/** @type {Element} */ (event.target));
    const onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.click(/** @type {Element} */ (event.target));
    };
    this.picture = el("div.circuit-picture#circuit-picture", { onclick, onkeydown });
    arrows(this.picture, (target, right, down) => this.move(target, right, down), true);
    this.about = el("p.circuit-about");
    this.kept = el("p.circuit-kept#circuit-kept", { "aria-live": "polite" });
    this.detail = el("section.circuit-detail#circuit-detail");
    this.list = el("ol.circuit-lines");
    this.lines = el("details.circuit-list#circuit-list", el("summary", say("circuit_list")), this.list);
    const parts = [this.controls.box, this.picture, this.about, this.kept, this.detail, this.lines];
    this.box = el("section.circuit#circuit", { hidden: true, "aria-label": say("circuit") }, parts);
  }

  get isOpen() {
    const { stage } = this;
    return stage.state?.view === "circuit" && stage.measure !== "effects";
  }

  /** Shows what there is of what is open, and asks for what is not there. */
  render() {
    const { stage, box, isOpen } = this;
    dress(stage.root, { "asks-circuit": isOpen });
    box.hidden = !isOpen;
    if (!isOpen) return;
    this.ask();
    this.controls.render();
    keepFocus(this.detail, () => setChildren(this.detail, this.detailOf()));
    keepFocus(this.list, () => setChildren(this.list, this.linesOf()));
    this.draw();
    this.kept.textContent = this.reason ? "" : this.keptLine();
    this.kept.hidden = Boolean(this.shown.graph); // else it keeps its room, so that nothing below it jumps
    setChildren(this.about, this.legend());
  }

  /** Takes the numbers that are here, the first ones that are missing are fetched. */
  ask() {
    const { stage, numbers } = this;
    const isOfHeads = stage.state.circuit.graph === "heads";
    const graph = isOfHeads ? numbers.get("graph", {}) : null;
    const isReady = !isOfHeads || graph;
    const word = isReady && stage.result.predicts ? numbers.get("word", queryOfWord(stage)) : numbers.peek("word", queryOfWord(stage));
    const { circuit } = stage.result.payload;
    const isMissing = circuit && "reason" in circuit;
    this.controls.box.hidden = Boolean(isMissing);
    const reason = isMissing ? circuit.reason : isOfHeads ? graph?.reason : stage.result.predicts ? word?.reason : stage.say("circuit_no_words");
    this.reason = reason ?? "";
    for (const part of [this.picture, this.about]) part.hidden = Boolean(reason);
    this.shown = shownOf(stage, word?.nodes ? word : null, graph?.heads ? graph : null);
  }

  /** Draws the picture; the head that has the focus keeps it. */
  draw() {
    const { stage, picture, shown } = this;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest("[data-head]"))?.dataset.head;
    const width = Math.max(280, Math.floor(picture.clientWidth || 600));
    this.drawing = drawingOf(stage, shown, width, this.height());
    const svg = circuitSvg(this.drawing, stage.isDark ? DARK : LIGHT, { label: stage.say("circuit") });
    picture.replaceChildren(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
    if (focused) this.focus(focused);
  }

  height() {
    const { stage, picture } = this;
    const top = picture.getBoundingClientRect().top - stage.root.getBoundingClientRect().top + (stage.above ?? 150);
    if (isNarrow(stage)) return LOWEST_NARROW;
    return Math.max(LOWEST, Math.min(HIGHEST, Math.floor(innerHeight - top - UNDER)));
  }

  /** Redraws while the slider moves, without asking anything. @param {number} least */
  slide(least) {
    const { stage } = this;
    stage.state.circuit = { ...stage.state.circuit, least };
    const { circuit, graph } = this.shown;
    this.shown = shownOf(stage, circuit, graph);
    this.draw();
    setChildren(stage.title, this.heading());
    this.kept.textContent = "";
  }

  /** @param {Element} target */
  click(target) {
    const head = /** @type {HTMLElement | null} */ (target.closest("[data-head]"))?.dataset.head;
    const link = this.shown.links[Number(/** @type {HTMLElement | null} */ (target.closest("[data-link]"))?.dataset.link ?? -1)];
    if (head) openHead(this.stage, head);
    else if (link) choose(this.stage, { link: linkName(link) });
  }

  /** Moves the focus to the next head in a direction. @param {HTMLElement} target @param {number} right @param {number} down */
  move(target, right, down) {
    const from = /** @type {HTMLElement | null} */ (target.closest("[data-head]"))?.dataset.head;
    const keys = [...this.picture.querySelectorAll("[data-lit]")].map((node) => /** @type {HTMLElement} */ (node).dataset.head ?? "");
    const next = from && this.drawing && neighbour(this.drawing.layout, keys, from, right, down);
    if (next) this.focus(next);
  }

  /** @param {string} key */
  focus(key) {
    const nodes = [...this.picture.querySelectorAll("[data-lit]")];
    const node = /** @type {SVGElement | undefined} */ (nodes.find((one) => /** @type {HTMLElement} */ (one).dataset.head === key));
    node?.focus({ preventScroll: true });
  }

  /** What is said of the line that was clicked, else of the open head. */
  detailOf() {
    const { stage, shown, numbers } = this;
    const { links, faint } = shown;
    const link = [...links, ...faint].find((one) => linkName(one) === stage.state.circuit.link);
    if (link) return linkDetail(stage, shown, numbers, link);
    return links.length ? headDetail(stage, shown) : [];
  }

  /** The lines as buttons, for who does not point. */
  linesOf() {
    const { stage, shown } = this;
    if (this.lines.hidden !== !shown.links.length) this.lines.hidden = !shown.links.length;
    const drawing = drawingOf(stage, shown, 100, 100);
    return shown.links.slice(0, LISTED).map((link) => {
      const name = linkName(link);
      const about = { "aria-pressed": String(stage.state.circuit.link === name), "data-part": name };
      return el("li", button("link", drawing.describe(link), () => choose(stage, { link: name }), about));
    });
  }

  /** What colours and thickness say. */
  legend() {
    const { stage, shown } = this;
    const { say, state } = stage;
    const sides = Object.entries(SIDE_COLOURS).map(([side, colour]) =>
      el("span.circuit-side", el("span.swatch", { style: `background: ${colour}` }), say(`circuit_side_${side}`)),
    );
    const isOfHeads = state.circuit.graph === "heads";
    const drawn = shown.links.length + shown.faint.length;
    const some = shown.n > drawn && say("circuit_most", { n: drawn, total: shown.n });
    return [sides, say(isOfHeads ? "circuit_graph_about" : "circuit_about"), some && ` ${some}`];
  }

  /** What the answer keeps of the heads that are shown, or how far that is. */
  keptLine() {
    const { stage, shown, numbers } = this;
    const { circuit, pruned, graph, lit } = shown;
    if (!circuit || graph || !pruned.nodes.length) return this.progress();
    const threshold = leastOf(stage.state.circuit);
    const query = { ...queryOfWord(stage), least: smallestSame(circuit, threshold) };
    const kept = numbers.peek("kept", query);
    const isOfFile = !numbers.payload.address;
    if (!kept) {
      clearTimeout(this.waiting);
      if (!isOfFile) this.waiting = window.setTimeout(() => this.isOpen && numbers.get("kept", query), PAUSE);
      return isOfFile ? "" : stage.say("circuit_checking", { share: numbers.share("kept", query) });
    }
    if (kept.reason) return kept.reason;
    if (isOfFile && smallestSame(circuit, kept.threshold) !== query.least) return "";
    const shares = keptShares(kept);
    const values = { ...kept, left: kept.places, places: pruned.nodes.length, heads: lit.size };
    if (!shares) return stage.say("circuit_kept_little", values);
    const name = kept.texts ? "circuit_kept" : "circuit_kept_here";
    return stage.say(name, { ...values, share: shares.places, of_heads: shares.heads });
  }

  /** What the answer keeps of what is shown, if that is known. */
  keptNow() {
    const { stage, numbers } = this;
    const { circuit } = this.shown;
    const least = circuit && smallestSame(circuit, leastOf(stage.state.circuit));
    return (least !== null && numbers.peek("kept", { ...queryOfWord(stage), least })) || undefined;
  }

  /** How far the numbers are that are waited for. */
  progress() {
    const { stage, numbers, shown, reason } = this;
    const isOfHeads = stage.state.circuit.graph === "heads";
    if (reason || (isOfHeads ? shown.graph : shown.circuit)) return "";
    const share = isOfHeads ? numbers.share("graph", {}) : numbers.share("word", queryOfWord(stage));
    return stage.say(isOfHeads ? "circuit_graph_computing" : "circuit_computing", { share });
  }

  /** The heading of the view. */
  heading() {
    const { stage, shown, reason } = this;
    const { circuit, pruned, graph, lit } = shown;
    const { say } = stage;
    if (reason) return reason;
    const least = leastOf(stage.state.circuit);
    if (graph) return this.headingOfHead(least);
    if (!circuit) return say("circuit");
    const values = { ...circuit, places: pruned.nodes.length, heads: lit.size, share: least };
    if (!pruned.nodes.length) return say("circuit_title_none", values);
    return say(circuit.other === null ? "circuit_title_mean" : "circuit_title", values);
  }

  /** What the open head takes most from, and whom it gives most. @param {number} least */
  headingOfHead(least) {
    const { stage, shown } = this;
    const { links } = shown;
    const { say } = stage;
    const name = (/** @type {string} */ key) => headName(stage, key);
    const head = name(openKey(stage));
    const sideOf = (/** @type {import("../../recording/pictures/circuit.js").Link} */ link) => ({ share: link.value, side: say(`circuit_side_${link.side}`) });
    const takes = links.find(({ target }) => target === shown.open);
    const gives = links.find(({ source }) => source === shown.open);
    if (!takes && !gives) return say("circuit_title_alone", { head, share: least });
    return [
      takes && say("circuit_title_takes", { head, source: name(takes.source), ...sideOf(takes) }),
      gives && say("circuit_title_gives", { head, target: name(gives.target), ...sideOf(gives) }),
    ]
      .filter(Boolean)
      .join(" ");
  }
}

/**
 * The smallest share that leaves the same places, so that what the answer keeps is computed once for all of them.
 * @param {CircuitPayload} circuit
 * @param {number} threshold
 */
function smallestSame(circuit, threshold) {
  const now = JSON.stringify(prune(circuit, threshold).nodes);
  const scale = Math.max(Math.abs(circuit.logit), 1e-9);
  const sizes = [...circuit.nodes.map(({ effect }) => effect), ...circuit.edges.map(({ amount }) => amount)];
  const shares = [circuit.least, ...sizes.map((size) => Math.abs(size) / scale)].filter((share) => share <= threshold);
  const candidates = [...new Set(shares.map((share) => Math.max(circuit.least, Math.floor(1000 * share) / 1000)))].sort((a, b) => a - b);
  return candidates.find((share) => JSON.stringify(prune(circuit, share).nodes) === now) ?? threshold;
}
