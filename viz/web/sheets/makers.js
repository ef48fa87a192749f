// The makers of the pages that are sheets (view/pages.js has them in the order of the header), by the names that their
// addresses and files have.

import { atlas } from "./makers/atlas.js";
import { masks } from "./makers/masks.js";
import { positions } from "./makers/positions.js";
import { training } from "./makers/training.js";

/** @type {Record<typeof import("../site/view/pages.js").SHEETS[number], import("../site/sheets.js").Maker>} */
export const MAKERS = { masks, positions, training, atlas };
