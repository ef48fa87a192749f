// What the page without a server tells the stage: `node visit.js JOB.json` reads settings, folders of checkpoints and
// visits (an address, then actions on the stage), and prints the message and the address after each.

import { readFileSync } from "node:fs";

import { changesAfter } from "../../../viz/web/site/view/actions.js";
import { patchesAfter } from "../../../viz/web/site/view/patches.js";
import { unpack } from "../../../viz/web/recording/message/packed.js";
import { messageOf } from "../../../viz/web/site/payload/messages.js";
import { PatchingParts } from "../../../viz/web/site/payload/patching.js";
import { packedScores } from "../../../viz/web/site/payload/why.js";
import { Speech } from "../../../viz/web/site/speech.js";
import { parametersOf, readRequest } from "../../../viz/web/site/view/view.js";
import { nodeModels } from "./node_models.js";

const job = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const { settings } = job;
const models = await nodeModels(settings, job.folders);

/** Arrays as lists. @param {string} _ @param {any} value */
const portable = (_, value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : value);

const results = [];
for (const { hash, actions = [], shares: askShares = false, cells = [], patching: askPatching = [] } of job.visits) {
  const query = new URLSearchParams(hash);
  const speech = new Speech(settings, query.get("lang"));
  const ofPatching = new PatchingParts(models, speech);
  let { request } = readRequest(query, settings);
  const looks = [];
  for (const action of [null, ...actions]) {
    if (action?.do === "importance") request = { ...request, importance: !request.importance };
    else if (action && request.page === "compare") {
      request = { ...request, patched: patchesAfter(action, request.patched) ?? request.patched };
    } else if (action) {
      const encode = async (/** @type {string} */ target) =>
        (await models.answer(request.model, { text: request.text, target })).predicted_ids.slice(0, -1);
      const { answer } = /** @type {any} */ (await messageOf(request, models, speech));
      const { config } = models.get(request.model);
      const changes = await changesAfter(action, { changes: request.changes, answer, config, encode });
      if (changes) request = { ...request, changes };
    }
    const { message, answer } = /** @type {any} */ (await messageOf(request, models, speech));
    const { steering, comparing, after } = message;
    const shares = after.shares && askShares ? unpack(new Uint8Array(await packedScores(after.shares, models, speech))) : null;
    const parts = [];
    for (const cell of cells) parts.push(unpack(new Uint8Array(await packedScores(`${after.parts}?${cell}`, models, speech))));
    const patching = [];
    for (const part of askPatching)
      patching.push(unpack(new Uint8Array(await ofPatching.answer(`${comparing.patching.address}?part=${part}`))));
    const ofMessage = { forms: message.words.forms, steering, comparing, after };
    looks.push({ ...ofMessage, text: answer.text, address: parametersOf(request, settings), shares, parts, patching });
  }
  results.push(looks);
}
process.stdout.write(JSON.stringify(results, portable));
