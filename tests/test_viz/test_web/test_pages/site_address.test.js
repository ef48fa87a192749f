// Where the page without a server shows what a page of the app shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { siteAddress } from "../../../../viz/web/pages/site_address.js";

const PAGES = ["translate", "steer", "lessons"];

/** @param {string} page @param {string} search @param {Record<string, string>} [typed] */
const address = (page, search, typed = {}) => siteAddress("/site/", PAGES, page, new URLSearchParams(search), typed);

test("the parameters are the same, behind the # and with the page", () => {
  assert.equal(address("", ""), "/site/");
  assert.equal(address("", "text=A+dog&lang=de"), "/site/#text=A+dog&lang=de");
  assert.equal(address("steer", "edits=v1_oc0-1"), "/site/#page=steer&edits=v1_oc0-1");
  assert.equal(address("lessons", "lesson=masks-2"), "/site/#page=lessons&lesson=masks-2");
  assert.equal(address("translate", "beam=1"), "/site/#beam=1");
});

test("what is typed is newer than the address", () => {
  assert.equal(address("steer", "text=A+dog&kind=cross", { text: "Ein & zwei" }), "/site/#page=steer&text=Ein+%26+zwei&kind=cross");
});

test("a page that only the app has leads nowhere", () => {
  assert.equal(address("training", ""), null);
});
