// The views of the stage, by the names that addresses have.

export const VIEWS = ["map", "mask", "positions", "words", "inside", "why", "writes", "circuit"];
export const OF_HEADS = ["map", "mask"]; // of a whole head
export const OF_ROWS = ["inside", "why", "writes"]; // of one row of a head
