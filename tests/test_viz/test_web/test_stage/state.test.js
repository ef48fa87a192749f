// What the stage takes from an address.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Open } from "../../../../viz/web/stage/main/state.js";

test("an address keeps the board of importance only where importance was measured", () => {
  /** @param {unknown} steering */
  const boards = (steering) => {
    const open = Object.assign(Object.create(Open.prototype), { message: { steering } });
    return ["importance", "entropy", "none", "size", null].map((code) => open.boardOf(code));
  };
  for (const steering of [null, { importance: null }]) {
    assert.deepEqual(boards(steering), [null, "entropy", "none", null, null]);
  }
  assert.deepEqual(boards({ importance: { cross: [[0.1]] } }), ["importance", "entropy", "none", null, null]);
});
