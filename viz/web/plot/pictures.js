// Buttons that make pictures of a figure.

import { unpack } from "../recording/message/packed.js";
import { button, el, setChildren } from "../stage/frame/dom.js";
import { plotly } from "../stage/frame/plotly.js";

/**
 * A figure that is to become a file (viz/ui/plot/plot.py).
 * @typedef {object} PictureMessage
 * @property {import("./plot.js").Trace[]} data
 * @property {import("../recording/pictures/looks.js").Layout} layout
 * @property {string} name  of the file, without its ending
 * @property {number} width  in pixels
 * @property {{drawing: string, failed: string, missing: string}} words
 */

/** Buttons that make pictures of a figure, and what is said meanwhile. @param {PictureMessage} message */
export function pictureButtons({ data, layout, name, width, words }) {
  const status = el("small", { role: "status" });
  /** @param {string} format @param {number} scale */
  const make = async (format, scale) => {
    status.textContent = words.drawing;
    const library = await plotly().catch(() => null);
    if (!library) {
      status.textContent = words.missing;
      return;
    }
    try {
      // Not downloadImage: its link lies in the page, and a click there closes what these buttons stand in.
      const size = { width, height: layout.height };
      const address = await library.toImage({ data, layout: { ...layout, width } }, { format, scale, ...size });
      el("a", { href: address, download: `${name}.${format}` }).click();
      status.textContent = "";
    } catch (error) {
      status.textContent = words.failed.replace("{reason}", () => (error instanceof Error ? error.message : String(error)));
    }
  };
  const png = button("picture", "PNG", () => make("png", 2));
  const svg = button("picture", "SVG", () => make("svg", 1));
  return [png, svg, status];
}

/** @param {{data: Uint8Array, parentElement: Element}} component */
export function show({ data, parentElement }) {
  const place = /** @type {Element} */ (parentElement.querySelector(".hl-place"));
  setChildren(place, el("div.pictures-of", pictureButtons(unpack(data))));
}
