// What the page without a server tells the stage: `node visit.js JOB.json` reads settings, folders of checkpoints and
// visits (an address, then actions on the stage), and prints the message and the address after each.

import { readFileSync } from "node:fs";

import { errorOf } from "../../../viz/web/engine/client.js";
import { Service } from "../../../viz/web/engine/service.js";
import { changesAfter } from "../../../viz/web/site/view/actions.js";
import { patchesAfter } from "../../../viz/web/site/view/patches.js";
import { unpack } from "../../../viz/web/recording/message/packed.js";
import { messageOf } from "../../../viz/web/site/payload/messages.js";
import { PatchingParts } from "../../../viz/web/site/payload/patching.js";
import { packedScores } from "../../../viz/web/site/payload/why.js";
import { Speech } from "../../../viz/web/site/speech.js";
import { parametersOf, readRequest } from "../../../viz/web/site/view/view.js";

const job = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const { settings } = job;
/** @type {Map<number, (reply: any) => void>} */
const pending = new Map();
let last = 0;
const service = new Service((reply) => {
  if (reply.received === undefined && reply.share === undefined) pending.get(reply.id)?.(reply);
});

/** @param {any} message @returns {Promise<any>} */
async function ask(message) {
  const id = ++last;
  const reply = await new Promise((done) => {
    pending.set(id, done);
    service.receive({ ...message, id });
  });
  if (reply.problem) throw errorOf(reply.problem);
  return reply.answer;
}

const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
const simd = { simd: bytes(new URL("../../../viz/web/engine/kernel.wasm", import.meta.url).pathname) };
for (const [name, folder] of Object.entries(job.folders)) {
  const places = { config: "config.json", tokenizer: "tokenizer.json", weights: "model.safetensors" };
  const files = Object.fromEntries(Object.entries(places).map(([part, file]) => [part, bytes(`${folder}/${file}`)]));
  await ask({ do: "load", name, files, kernels: simd });
}

/** @type {any} */
const models = {
  get: (/** @type {string} */ name) => settings.models.find((/** @type {any} */ model) => model.name === name),
  answer: (/** @type {string} */ name, /** @type {any} */ request, also = {}, lane = "") =>
    ask({ do: "translate", name, request, also, lane }),
  patch: (/** @type {string} */ name, /** @type {any} */ request, /** @type {any} */ parts, lane = "") =>
    ask({ do: "patch", name, request, parts, lane }),
  settings,
};

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
    const shares = after.shares && askShares ? unpack(new Uint8Array(await packedScores(after.shares, models))) : null;
    const parts = [];
    for (const cell of cells) parts.push(unpack(new Uint8Array(await packedScores(`${after.parts}?${cell}`, models))));
    const patching = [];
    for (const part of askPatching)
      patching.push(unpack(new Uint8Array(await ofPatching.answer(`${comparing.patching.address}?part=${part}`))));
    const ofMessage = { forms: message.words.forms, steering, comparing, after };
    looks.push({ ...ofMessage, text: answer.text, address: parametersOf(request, settings), shares, parts, patching });
  }
  results.push(looks);
}
process.stdout.write(JSON.stringify(results, portable));
