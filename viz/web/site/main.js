// Begins the page without a server, from its folder or from one file.

import { compress } from "../stage/frame/file.js";
import { el } from "../stage/frame/dom.js";
import { loadedPlotly } from "../stage/frame/plotly.js";
import { App } from "./app.js";
import { LessonsPage } from "./lessons.js";
import { Models } from "./models.js";
import { keepOffline, readFile, readSettings } from "./settings.js";
import { Speech } from "./speech.js";
import { fragment } from "./view/address.js";
import { pagesOf } from "./view/pages.js";
import { LESSONS } from "./view/view.js";
import { startTheme } from "./controls/theme.js";

const settings = readSettings();
const models = new Models(settings, (model, received) => {
  app?.tell(model, received);
  readShell(); // so that what is kept later needs no network
});
/** @type {Promise<Uint8Array> | undefined} the page that a stage is kept as, without Plotly */
let shell;
/** @type {ReturnType<typeof loadPlotly> | undefined} */
let library;
/** @type {App | LessonsPage | import("./sheets.js").SheetPage | undefined} */
let app;
/** @type {ReturnType<typeof loadSheets> | undefined} */
let sheets;
/** The newest visit to a page whose script is not there yet. */
let visit = {};

/** Runs Plotly, whose hash the policy of the page names. */
async function loadPlotly() {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await readFile(settings, "plotly"));
  document.head.append(script);
  return { script, Plotly: loadedPlotly() };
}

function readShell() {
  shell ??= readFile(settings, "shell");
  shell.catch(() => (shell = undefined)); // may be tried again
  return shell;
}

const host = {
  plotly: async () => (await (library ??= loadPlotly())).Plotly,
  shell: async () => {
    const { script } = await (library ??= loadPlotly());
    const page = new TextDecoder().decode(await readShell());
    return page.replace("@plotly@", await compress(new TextEncoder().encode(script.textContent ?? "")));
  },
};

/** The pages that are sheets, whose script comes once one is opened. @returns {Promise<typeof import("./sheets.js")>} */
function loadSheets() {
  const script = document.createElement("script");
  script.src = settings.sheets ?? "";
  return new Promise((resolve, reject) => {
    script.onload = () => resolve(/** @type {any} */ (self).headlightLater);
    script.onerror = () => reject(new Error("The script of the page could not be fetched."));
    document.head.append(script);
  });
}

/** Opens a page that is a sheet. @param {string} name */
async function arriveAtSheet(name) {
  const ours = (visit = {});
  try {
    const { SheetPage } = await (sheets ??= loadSheets());
    if (visit === ours) put(new SheetPage(/** @type {any} */ (name), settings, models, host, arrive));
  } catch (error) {
    console.error(error);
    sheets = undefined; // may be tried again
    const { say } = new Speech(settings, fragment().get("lang"));
    if (visit === ours) document.getElementById("hl-place")?.append(el("p.alert", { role: "alert" }, say("sheet_not_fetched")));
  }
}

/** The name of the part of the page that has the focus. */
const focusedPart = () => document.activeElement?.closest("[data-testid]")?.getAttribute("data-testid");

/** Makes the page of the address: at first, and when the visitor goes back or forward. */
function arrive() {
  const { name = "", isSheet } = pagesOf(settings).find((page) => page.name === fragment().get("page")) ?? {};
  if (app && "revisit" in app && app.name === name && app.revisit(name)) return;
  visit = {};
  if (isSheet) arriveAtSheet(name);
  else put(name === LESSONS ? new LessonsPage(settings, models, host, arrive) : new App(settings, models, host, arrive));
}

/** Puts a page in the place of the one before. @param {NonNullable<typeof app>} page */
function put(page) {
  const partName = focusedPart();
  app?.leave();
  app = page;
  document.getElementById("hl-place")?.replaceChildren(...app.nodes);
  const part = partName && document.querySelector(`[data-testid="${partName}"]`);
  const focused = part && (part.querySelector('[aria-selected="true"]') ?? part);
  if (focused instanceof HTMLElement) focused.focus();
  app.update();
}

startTheme(() => app?.repaint());
addEventListener("popstate", arrive);
arrive();
keepOffline(settings);
