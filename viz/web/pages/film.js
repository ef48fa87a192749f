// A film of a training: a slider over its steps, curves on one axis, and every head as a tile at the step; one or two.

import { curvesOf, frameAt, kindOf, lossAt, mapOf, readFilm } from "../recording/film/film.js";
import { unpack } from "../recording/message/packed.js";
import { fill } from "../recording/text/sentences.js";
import { button, decimals, el, setChildren } from "../stage/frame/dom.js";
import { Curves } from "./film_curves.js";
import { paintMap } from "./film_maps.js";

/**
 * @typedef {import("../recording/film/film.js").Film} Film
 * @typedef {{step: number, rule: string, text: string}} Mark
 * @typedef {object} FilmOf
 * @property {Uint8Array} file
 * @property {string} name
 * @property {Mark[]} marks
 * @typedef {object} FilmMessage
 * @property {string} stamp
 * @property {string} run  what plays: with another one the film begins again
 * @property {boolean} plays  whether it plays by itself at first
 * @property {boolean} live  whether it grows: then its end is shown
 * @property {number} text  the number of the text that is open
 * @property {FilmOf[]} films  one or two
 * @property {Record<string, string>} words
 * @typedef {{film: Film, name: string, marks: Mark[], curves: import("../recording/film/film.js").Curve[]}} Loaded
 * @typedef {{film: number, kind: string, layer: number, head: number, step: number}} Opened
 */

const BEAT = 180; // milliseconds per frame
const BELOW = 12; // pixels under the film
const LOWEST = 470; // pixels of a film in a low window
const TILE = 44; // pixels of a tile at least, where heads fit side by side

export class FilmPlayer {
  /** @type {ReturnType<typeof setInterval> | null} */ playing = null;
  /** @type {Loaded[]} */ films = [];
  /** @type {number[]} */ steps = [0];
  place = 0;
  stamp = "";
  run = "";
  /** @type {(opened: Opened) => void} */ open = () => {};

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.play = button("plain.play#play-film", "▶", () => (this.playing ? this.pause() : this.start()));
    const oninput = () => {
      const place = Number(this.slider.value);
      this.pause(); // who moves the slider wants that step
      this.go(place);
    };
    this.slider = el("input", { type: "range", min: 0, "data-testid": "film-slider", oninput });
    this.counter = el("span.count", { "data-testid": "film-counter" });
    this.curves = new Curves((opened) => this.openAt(opened));
    this.boards = el("div.film-boards");
    this.note = el("p.note", { role: "status", "data-testid": "film-note" });
    this.box = el("div.film", [el("div.player", this.play, this.slider, this.counter), this.curves.box, this.boards, this.note]);
    parent.append(this.box);
    new ResizeObserver(() => this.resize()).observe(parent);
    addEventListener("resize", () => this.resize());
  }

  /** @param {FilmMessage} message */
  async show(message) {
    if (message.stamp === this.stamp) return;
    const atEnd = this.place >= this.steps.length - 1;
    const isOther = message.run !== this.run;
    const step = this.steps[this.place];
    this.stamp = message.stamp;
    const films = await Promise.all(
      message.films.map(async ({ file, name, marks }) => {
        const film = await readFilm(file);
        return { film, name, marks, curves: curvesOf(film) };
      }),
    );
    if (this.stamp !== message.stamp) return; // a newer one has come meanwhile
    this.message = message;
    this.run = message.run;
    this.films = films;
    this.steps = [...new Set(films.flatMap(({ film }) => [...film.steps]))].sort((a, b) => a - b);
    this.slider.max = String(this.steps.length - 1);
    this.slider.ariaLabel = message.words.slider;
    const last = this.steps.length - 1;
    const kept = this.steps.findLastIndex((each) => each <= step);
    const follows = message.live && (isOther || atEnd);
    this.place = follows || isOther ? last : Math.max(0, Math.min(kept, last));
    this.build();
    this.resize();
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isOther) this.pause();
    if (isOther && message.plays && !isCalm) this.start();
  }

  /** Builds the tiles of all heads. */
  build() {
    this.tiles = this.films.flatMap(({ film, name }, number) => this.board(film, name, number));
  }

  /** @param {Film} film @param {string} name @param {number} number */
  board(film, name, number) {
    const { words, text } = /** @type {FilmMessage} */ (this.message);
    const open = film.texts[Math.min(text, film.texts.length - 1)];
    const tiles = Object.entries(open.maps).flatMap(([kind, frames]) =>
      frames[0].flatMap((heads, layer) =>
        heads.map((_, head) => {
          const canvas = el("canvas", { "aria-hidden": "true" });
          const title = fill(words.head, { kind: words[kind], layer, head });
          const onclick = () => this.openAt({ film: number, kind, layer, head, step: this.steps[this.place] });
          const score = el("small");
          const box = button("film-head#film-head", [canvas, score], onclick, { title, "aria-label": title });
          box.dataset.head = `${kind} ${layer} ${head}`;
          return { box, canvas, score, kind, layer, head, film, open };
        }),
      ),
    );
    const kinds = Object.keys(open.maps).map((kind) => {
      const rows = tiles.filter((tile) => tile.kind === kind);
      const heads = open.maps[kind][0][0].length;
      const grid = el("div.film-grid", { style: `--hl-heads:${heads}` }, rows.map(({ box }) => box));
      return el("div.film-kind", [Object.keys(open.maps).length > 1 && el("small", words[kind]), grid]);
    });
    const board = el("div.film-board", [this.films.length > 1 && el("b", name), el("div.film-kinds", kinds)]);
    if (number === 0) setChildren(this.boards);
    this.boards.append(board);
    return tiles;
  }

  /** @param {Opened} opened */
  openAt(opened) {
    this.pause();
    this.open(opened);
  }

  start() {
    const ends = () => this.place >= this.steps.length - 1;
    this.pause();
    if (ends()) this.place = 0;
    this.playing = setInterval(() => {
      if (!this.box.isConnected || ends()) this.pause();
      else this.go(this.place + 1);
    }, BEAT);
    this.draw();
  }

  pause() {
    if (this.playing) clearInterval(this.playing);
    this.playing = null;
    this.draw();
  }

  /** @param {number} place */
  go(place) {
    this.place = place;
    this.draw();
  }

  /** Takes the height that is left of the window. */
  resize() {
    if (!this.films.length) return;
    const top = this.box.getBoundingClientRect().top + scrollY;
    const isNarrow = innerWidth < 640;
    const rows = Math.max(...this.films.flatMap(({ film }) => Object.values(film.texts[0].maps).map((maps) => maps[0].length)));
    const needed = (rows * (TILE + 22) + 112) / 0.62; // of many layers the page scrolls
    const height = isNarrow ? 0 : Math.max(LOWEST, needed, innerHeight - top - BELOW);
    this.box.style.height = height ? `${height}px` : "";
    this.curves.resize(this.box.clientWidth, isNarrow ? 220 : Math.round(height * 0.38));
    const kinds = this.boards.querySelectorAll(".hl-film-kind").length || 1;
    const heads = Math.max(...this.films.map(({ film }) => Object.values(film.texts[0].maps)[0][0][0].length));
    const room = isNarrow ? Infinity : (height * 0.62 - 112 - 20 * (this.films.length > 1 ? 1 : 0)) / rows - 22;
    const isWide = this.box.clientWidth > 560;
    const across = isWide ? kinds : 1;
    const width = (this.box.clientWidth - 16 * across) / (across * heads) - 6;
    this.box.style.setProperty("--hl-tile", `${Math.max(26, Math.min(room, width, 170))}px`);
    this.draw();
  }

  draw() {
    const { message } = this;
    if (!message) return;
    const step = this.steps[this.place];
    const { words } = message;
    this.slider.value = String(this.place);
    setChildren(this.play, this.playing ? "❚❚" : "▶");
    this.play.ariaLabel = this.playing ? words.pause : words.play;
    const parts = this.films.map(({ film }) => {
      const frame = frameAt(film, step);
      const shown = { step: String(step), loss: decimals(lossAt(film, frame), 2), right: decimals(100 * film.right[frame], 0) };
      return fill(this.films.length > 1 ? words.beside : words.counter, shown);
    });
    const before = this.films.length > 1 ? [fill(words.step, { step: String(step) })] : [];
    setChildren(this.counter, [...before, ...parts].join(" · "));
    this.curves.draw(this.films, step, words);
    for (const tile of this.tiles ?? []) {
      const frame = frameAt(tile.film, step);
      paintMap(tile.canvas, mapOf(tile.open, tile.kind, [frame, tile.layer, tile.head]), tile.kind === "decoder_self");
      const scores = Object.entries(tile.film.scores)
        .filter(([rule]) => rule !== "earlier" && kindOf(tile.film, rule) === tile.kind)
        .map(([rule, values]) => ({ rule, score: values[frame][tile.layer][tile.head] }))
        .sort((a, b) => b.score - a.score);
      const [best] = scores;
      setChildren(tile.score, best && best.score >= 0.2 ? decimals(best.score, 2) : "");
      tile.box.style.borderColor = best && best.score >= 0.2 ? this.curves.colour(best.rule) : "";
    }
    const marks = this.films.flatMap((each) => each.marks.filter((mark) => mark.step <= step).map((mark) => ({ ...mark, name: each.name })));
    const newest = marks.sort((a, b) => a.step - b.step).at(-1);
    setChildren(this.note, newest ? (this.films.length > 1 ? `${newest.name}: ${newest.text}` : newest.text) : words.nothing);
  }
}

/** @type {WeakMap<HTMLElement, FilmPlayer>} */
const places = new WeakMap();

/** @param {import("./tiles.js").Component} component */
export function show({ data, parentElement, setTriggerValue }) {
  const player = places.get(parentElement) ?? new FilmPlayer(parentElement);
  places.set(parentElement, player);
  player.open = (opened) => setTriggerValue("opened", opened);
  player.show(unpack(data));
}
