// The makers of the pages that are sheets (view/pages.js has them in the order of the header), by the names that their
// addresses and files have.

import { atlas } from "./atlas.js";
import { masks } from "./masks.js";
import { positions } from "./positions.js";
import { training } from "./training.js";

/** @type {Record<typeof import("../view/pages.js").SHEETS[number], import("../sheets.js").Maker>} */
export const MAKERS = { masks, positions, training, atlas };
