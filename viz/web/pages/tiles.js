// Small pictures of a page, of which one is selected. Python sends the pixels; a click sends a code back.

import { unpack } from "../recording/message/packed.js";
import { DIVERGING, DIVERGING_ON_DARK, colours } from "../recording/pictures/theme.js";
import { dress, el, setChildren } from "../stage/frame/dom.js";
import { isDark } from "../stage/frame/page_colours.js";
import { arrows } from "../stage/frame/widgets.js";

/**
 * Rows of columns: red, green, blue and opacity; or one byte, which is a place on the scale about zero of the page.
 * @typedef {(import("../recording/message/types.js").Matrix | number[][] | Uint8Array)[]} Pixels
 *
 * @typedef {object} Tile
 * @property {string} code
 * @property {string} name
 * @property {string} [heading]  of the group that begins with this tile
 * @property {string} [note]  under the picture
 * @property {string} [flag]  of a tile that stands out, in the colour of rings
 * @property {Pixels} [pixels]
 *
 * @typedef {object} TilesMessage
 * @property {string} stamp
 * @property {string} label  of all, for screen readers
 * @property {number} columns
 * @property {boolean} small  pictures without names
 * @property {number} height  of a picture, in pixels
 * @property {boolean} scrolls  whether they scroll where there is no room for all
 * @property {boolean} fills  whether pictures grow until the side ends where the other one does
 * @property {string} selected  a code
 * @property {Tile[]} tiles
 *
 * @typedef {object} Component  what Streamlit gives
 * @property {Uint8Array} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

const [SIGNED, SIGNED_ON_DARK] = [DIVERGING, DIVERGING_ON_DARK].map((scale) => colours(scale));

/** @param {Pixels} pixels @param {boolean} dark  whether the page is */
function picture(pixels, dark) {
  const [height, width] = [pixels.length, pixels[0].length];
  const canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { width, height, "aria-hidden": "true" }));
  const image = new ImageData(width, height);
  const scale = dark ? SIGNED_ON_DARK : SIGNED;
  pixels.forEach((row, i) => {
    for (let j = 0; j < width; j++) {
      const pixel = row[j];
      image.data.set(typeof pixel === "number" ? [...scale[pixel], 255] : pixel, 4 * (i * width + j));
    }
  });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** A tile as a button. @param {Tile} tile @param {TilesMessage} message @param {boolean} dark @param {() => void} choose */
function tileOf({ code, name, note, flag, pixels }, message, dark, choose) {
  const isChosen = code === message.selected;
  const about = {
    type: "button",
    role: "radio",
    "aria-checked": String(isChosen),
    "aria-label": [name, note, flag].filter(Boolean).join(", "),
    title: message.small ? name : null,
    tabindex: isChosen ? "0" : "-1",
    "data-code": code,
    onclick: choose,
  };
  const below = el("span.below", note && el("small", note), flag && el("small.flag", flag));
  const words = message.small ? [] : [el("b", name)];
  return el("button.choice", about, words, pixels && picture(pixels, dark), (note || flag) && below);
}

/** Scrolls a list, and not the page, to one of its tiles. @param {HTMLElement} box @param {HTMLElement} tile */
function reveal(box, tile) {
  const [outer, inner] = [box, tile].map((node) => node.getBoundingClientRect());
  if (inner.bottom > outer.bottom || inner.top < outer.top) box.scrollTop += inner.top - outer.top - outer.height / 3;
}

export class Tiles {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.box = /** @type {HTMLElement} */ (el("div.tiles", { role: "radiogroup", "data-testid": "tiles" }));
    this.stamp = "";
    this.columns = 1;
    /** @type {(code: string) => void} */
    this.choose = () => {};
    /** @param {HTMLElement} from @param {number} right @param {number} down */
    const move = (from, right, down) => {
      const all = /** @type {HTMLElement[]} */ ([...this.box.querySelectorAll("[role=radio]")]);
      const next = all[all.indexOf(from) + right + this.columns * down];
      next?.focus();
      next?.click();
    };
    arrows(this.box, move, true);
    place.append(this.box);
  }

  /** @param {TilesMessage} message */
  show(message) {
    const { box } = this;
    const dark = isDark(box);
    const stamp = `${message.stamp} ${dark}`;
    if (this.stamp === stamp) return;
    Object.assign(this, { stamp, columns: message.columns });
    const focused = box.contains(document.activeElement);
    box.setAttribute("aria-label", message.label);
    box.style.setProperty("--hl-columns", String(message.columns));
    box.style.setProperty("--hl-tile-height", `${message.height}px`);
    dress(box, { small: message.small, fills: message.fills, scrolls: message.scrolls });
    /** @param {Tile} tile */
    const parts = (tile) => [tile.heading && el("p.heading", tile.heading), tileOf(tile, message, dark, () => this.choose(tile.code))];
    setChildren(box, message.tiles.flatMap(parts));
    const checkedTile = /** @type {HTMLElement | null} */ (box.querySelector('[aria-checked="true"]'));
    if (focused) checkedTile?.focus();
    else if (checkedTile && message.scrolls) requestAnimationFrame(() => reveal(box, checkedTile));
  }
}

/** @type {WeakMap<HTMLElement, Tiles>} */
const places = new WeakMap();

/** @param {Component} component */
export function show({ data, parentElement, setTriggerValue }) {
  const tiles = places.get(parentElement) ?? new Tiles(parentElement);
  places.set(parentElement, tiles);
  tiles.choose = (code) => setTriggerValue("selected", code);
  tiles.show(unpack(data));
}

/** @param {Component} component */
export function leave({ parentElement }) {
  places.get(parentElement)?.box.remove();
  places.delete(parentElement);
}
