// The parts of the page that the stage consists of; frame.js builds them.

import { Open } from "../main/state.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/message/version.js").Version} Version */

/**
 * The elements of one version: its tokens, its large map; beside another also its title and what it lacks.
 * @typedef {object} Part
 * @property {import("../main/state.js").VersionName} version
 * @property {Version} result
 * @property {Kind | null} kind
 * @property {import("../lines/lines.js").Lines | null} lines
 * @property {import("../map/map.js").LargeMap} map
 * @property {object} [ticket]  of what is drawn
 * @property {HTMLElement} title
 * @property {HTMLElement} says
 * @property {HTMLElement} slot
 */

export class Elements extends Open {
  /** @type {Partial<Record<import("../main/state.js").VersionName, Part>>} */ parts = {};
  /** @type {Record<string, import("./widgets.js").Tabs & {offered: string}>} */ tabs = {};
  /** @type {Record<"kinds" | "views" | "measures" | "versions", HTMLElement>} */ places;
  /** @type {HTMLElement} */ translation;
  /** @type {HTMLElement} */ notes;
  /** @type {HTMLElement} */ writing;
  /** @type {HTMLElement} */ card;
  /** @type {HTMLDetailsElement} of the head that the card is about */ numbers;
  /** @type {HTMLElement} */ title;
  /** @type {HTMLElement} */ says;
  /** @type {HTMLElement} the way from head to head */ crumbs;
  /** @type {import("../map/why_box.js").WhyBox} above the picture of the view "why" */ whyBox;
  /** @type {HTMLElement} weights of heads whose paths are cut */ cutBox;
  /** @type {HTMLElement} */ legend;
  /** @type {HTMLElement & {of?: unknown}} */ switches;
  /** @type {HTMLElement | null} of several pictures of a view */ choice = null;
  /** @type {import("./film.js").Film} */ film;
  /** @type {import("./fold.js").Fold} */ fold;
  /** @type {import("../tiles/tiles.js").Tiles} */ tiles;
  /** @type {import("./widgets.js").Menu} */ options;
  /** @type {import("../changes/steer.js").Steering | null} */ steering = null;
  /** @type {import("../patching/panel.js").PatchingPanel | null} */ patching = null;

  /** The version that is shown, or that the others stand beside. @returns {Part} */
  get part() {
    return this.parts[this.version] ?? /** @type {Part} */ (this.parts.after);
  }

  /** @returns {import("../lines/lines.js").Lines} */
  get lines() {
    return this.part.lines ?? /** @type {import("../lines/lines.js").Lines} */ (this.parts.after?.lines);
  }

  get map() {
    return this.part.map;
  }
}
