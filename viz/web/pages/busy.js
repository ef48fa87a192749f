// Where visitors go on who wait because others compute: a link to the same page without a server, as the head of the
// page names it (viz/app/busy.py).

import { el } from "../stage/frame/dom.js";
import { answersAwaited, base } from "../stage/main/streamlit.js";
import { siteAddress } from "./site_address.js";

const LOOK = 500; // ms between two looks
const PATIENCE = 1000; // ms that a page works before the server is asked whether others are why
const STAY = 8000; // ms that the link stays, so that it can be clicked
// Boxes whose sentence may be newer than the address, by its parameter there.
const BOXES = Object.entries({ text: ".st-key-sentence input", "text-b": ".st-key-text-b input" });

class BusyLink {
  /** When what the page waits for began; 0: it waits for nothing. */
  began = 0;
  /** Until when the link is shown. */
  until = 0;
  isAsking = false;

  /** @param {HTMLLinkElement} site */
  constructor(site) {
    this.site = site;
    this.link = el("a");
    this.line = el("p.busy", { role: "status", "data-testid": "busy" });
    document.body.append(this.line); // empty, so that screen readers say what comes into it
    setInterval(() => this.look(), LOOK);
  }

  get isWaiting() {
    const isRunning = document.querySelector("[data-testid=stApp][data-test-script-state=running]");
    return Boolean(isRunning) || answersAwaited() > 0;
  }

  get address() {
    const { href, dataset } = this.site;
    const typed = BOXES.flatMap(([name, box]) => {
      const field = /** @type {HTMLInputElement | null} */ (document.querySelector(box));
      return field ? [[name, field.value]] : [];
    });
    const page = location.pathname.slice(base.pathname.length).replace(/\/$/, "");
    return siteAddress(href, (dataset.pages ?? "").split(" "), page, new URLSearchParams(location.search), Object.fromEntries(typed));
  }

  async look() {
    const now = performance.now();
    this.began = this.isWaiting ? this.began || now : 0;
    const { address } = this;
    if (address) this.link.href = address;
    if (!address || now > this.until) this.line.replaceChildren();
    if (!address || !this.began || now - this.began < PATIENCE || this.isAsking) return;
    this.isAsking = true;
    const line = await askLine().catch(() => "");
    this.isAsking = false;
    if (!line) return;
    this.until = performance.now() + STAY;
    if (this.link.textContent !== line) this.link.textContent = line;
    if (!this.link.isConnected) this.line.append(this.link);
  }
}

/** What the server says while others are why somebody waits; else nothing. */
async function askLine() {
  const answer = await fetch(new URL(`headlight/busy?lang=${document.documentElement.lang}`, base));
  return answer.status === 200 ? (await answer.json()).line : "";
}

const site = globalThis.document?.querySelector("link[data-site]");
if (site) new BusyLink(/** @type {HTMLLinkElement} */ (site));
