// When the stage asks for the numbers of the view Why.

import assert from "node:assert/strict";
import { test } from "node:test";
import { askForOpen, fetchAhead } from "../../../../viz/web/stage/map/why_answers.js";

/** A stage at the first row of a head whose numbers cannot be fetched. @param {string | null} parts  where they are */
function stageWithout(parts) {
  const kind = { code: "decoder_self", open: [0, 0], telling: [[0, 0]], keys: ["a"], queries: ["a"], headAt: (/** @type {number[]} */ place) => place };
  /** @type {any} */
  const stage = {
    kind,
    asked: /** @type {unknown[]} */ ([]),
    message: { stamp: 1, address: {} },
    result: { payload: { parts, program: null } },
    state: { view: "why", why: { cell: null, trail: [] } },
    measure: "weights",
    requested: "",
    says: { textContent: "" },
    pinnedToken: () => null,
    say: (/** @type {string} */ name) => name,
    renderPicture: () => assert.fail("nothing has come that could be drawn"),
    host: { ask: (/** @type {unknown} */ question) => stage.asked.push(question), part: () => Promise.reject(new Error()) },
  };
  return stage;
}

/** Asks, and waits for what is fetched. @param {any} stage */
async function ask(stage) {
  askForOpen(stage);
  await new Promise((resolve) => setTimeout(resolve));
}

for (const parts of [null, "/parts"]) {
  test(`a message without numbers is not followed by another question (${parts})`, async () => {
    const stage = stageWithout(parts);
    for (const stamp of [1, 1, 2, 2, 3]) {
      stage.message.stamp = stamp;
      await ask(stage);
    }
    assert.equal(stage.asked.length, 1);
    assert.equal(stage.says.textContent, "failed");
    stage.state.why.cell = { row: 0, key: 0 }; // another cell
    await ask(stage);
    assert.equal(stage.asked.length, 2);
  });
}

test("a place that the visitor has left is asked about no more, and again when it is open again", async () => {
  const stage = stageWithout("/parts");
  askForOpen(stage);
  stage.state.view = "map";
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.deepEqual([stage.asked, stage.requested, stage.says.textContent], [[], "", ""]);
  stage.state.view = "why";
  await ask(stage);
  assert.equal(stage.asked.length, 1);
});

test("a pointer that rests on a tile takes no place from what the visitor waits for", async () => {
  const stage = stageWithout("/parts");
  const fetched = /** @type {string[]} */ ([]);
  stage.host.part = (/** @type {string} */ address) => new Promise(() => fetched.push(address)); // is not answered yet
  askForOpen(stage);
  fetchAhead(stage, [0, 1]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(fetched.length, 1);
});

test("a pointer that rests on a tile fetches its numbers while nothing else is fetched", async () => {
  const stage = stageWithout("/parts");
  const fetched = /** @type {string[]} */ ([]);
  stage.host.part = (/** @type {string} */ address) => Promise.reject(new Error(String(fetched.push(address))));
  await fetchAhead(stage, stage.kind.open);
  assert.equal(fetched.length, 1);
});
