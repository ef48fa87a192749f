// The address of the stage is written later and seldom, and never too late.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { writingLater } from "../../../../viz/web/stage/main/address.js";

/** @type {any[]} what was written and asked, in order */
let done = [];
/** @type {any} */
let host;
let now = 1000; // ms

/** @param {number} ms */
function pass(ms) {
  for (let i = 0; i < ms; i++) {
    now += 1;
    mock.timers.tick(1);
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  done = [];
  Object.assign(globalThis, {
    performance: { now: () => now },
    requestAnimationFrame: (/** @type {() => void} */ draw) => setTimeout(draw, 16),
  });
  host = writingLater(
    /** @type {any} */ ({
      read: () => ({ head: 0, kind: "cross" }),
      write: (/** @type {any} */ parameters) => done.push(parameters),
      ask: (/** @type {any} */ asked) => done.push({ asked }),
    }),
  );
});

test("what is chosen is read at once, and written after a frame", () => {
  host.write({ head: 3 });
  assert.deepEqual(host.read(), { head: 3, kind: "cross" });
  assert.deepEqual(done, []);
  pass(20);
  assert.deepEqual(done, [{ head: 3 }]);
});

test("a key that is held for half a minute writes less than a hundred times, and the last choice", () => {
  for (let head = 0; head < 900; head++) {
    host.write({ head });
    pass(33);
  }
  pass(400);
  assert.ok(done.length < 100, String(done.length));
  assert.deepEqual(done.at(-1), { head: 899 });
});

test("it is written before anything is asked", () => {
  host.write({ head: 5 });
  host.ask({ measure: "effects" });
  assert.deepEqual(done, [{ head: 5 }, { asked: { measure: "effects" } }]);
  pass(400);
  assert.equal(done.length, 2);
});
