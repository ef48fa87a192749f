// Small parts of the page.

/** An element: "name.class", properties ("on..." are listeners), children. */
export function el(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const space = `http://www.w3.org/${tag === "svg" ? "2000/svg" : "1999/xhtml"}`;
  const made = document.createElementNS(space, tag);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if ((value ?? false) !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter(Boolean));
  return made;
}

export const button = (look, text, onclick, properties = {}) =>
  el(`button.${look}`, { type: "button", onclick, ...properties }, text);

/** A small button with a sign, which a text names. */
export const icon = (sign, text, testid, onclick, look = "hl-sign") =>
  button(`hl-plain.${look}`, sign, onclick, { title: text, "aria-label": text, "data-testid": testid });

export function select(options, chosen, choose, properties = {}) {
  const option = ([value, text]) => el("option", { value, selected: value === chosen }, text);
  const made = el("select", { ...properties, onchange: () => choose(made.value) }, options.map(option));
  return made;
}

const marks = {};

/** A number with n decimals, as the language of the page writes it. */
export function decimals(value, n) {
  const language = document.documentElement.lang || "en";
  marks[language] ??= (0.5).toLocaleString(language)[1];
  return value.toFixed(n).replace(".", marks[language]);
}

export const change = (value) => (value > 0 ? "+" : "") + decimals(value, 2);

export const percent = (share) => `${decimals(100 * share, 1)} %`;

/** The words of one (0 or 1) of two texts in pairs; those that differ have a class. */
export const marked = (pairs, side, look) =>
  pairs
    .filter((pair) => pair[side])
    .flatMap((pair) => [" ", pair[0] === pair[1] ? pair[side] : el(`span.${look}`, {}, pair[side])])
    .slice(1);

/** Buttons of which one is chosen, of [code, text]; `name` is the attribute with the code. */
export function tabs(label, name, options, chosen, choose, testid) {
  const bar = el("div.hl-tabs", { role: "tablist", "aria-label": label, "data-testid": testid });
  const mark = (code) =>
    bar.querySelectorAll("button").forEach((one) => {
      const here = one.getAttribute(name) === code;
      one.setAttribute("aria-selected", String(here));
      one.tabIndex = here ? 0 : -1;
    });
  const pick = (code) => (mark(code), choose(code));
  bar.append(...options.map(([code, text]) => button("hl-tab", text, () => pick(code), { role: "tab", [name]: code })));
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const buttons = [...bar.children];
    const next = buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length);
    next.focus();
    next.click();
    event.preventDefault();
    event.stopPropagation();
  });
  mark(chosen);
  return { bar, mark };
}

/** A button that opens a panel; Escape and a click elsewhere close it. */
export function menu(sign, text, testid, make) {
  const panel = el("div.hl-panel", { hidden: true });
  const toggle = (open) => {
    if (open) panel.replaceChildren(...make(() => toggle(false)));
    panel.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
  };
  const opener = icon(sign, text, testid, () => toggle(panel.hidden));
  opener.setAttribute("aria-expanded", "false");
  const box = el("div.hl-menu", {}, opener, panel);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    toggle(false);
    opener.focus();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => box.contains(event.target) || toggle(false));
  return { box, renew: () => panel.hidden || toggle(true) };
}

/** Copies a text; over plain HTTP, where browsers have no clipboard for pages, as a reader would. */
export function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = el("textarea", {}, text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
