// Small parts of the page.

/** An element: properties that begin with "on" are listeners, others attributes; children are elements or texts. */
export function el(name, properties = {}, ...children) {
  const made =
    name === "svg" || name === "path"
      ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const marks = {};

/** A number with n decimals, with the mark before them that the language of the page has. */
export function decimals(value, n) {
  const language = document.documentElement.lang || "en";
  marks[language] ??= (0.5).toLocaleString(language)[1];
  return value.toFixed(n).replace(".", marks[language]);
}

/** Buttons of which one is chosen: options are [code, text]; `name` is the attribute that has the code. */
export function tabs(label, name, options, chosen, choose, testid) {
  const bar = el("div", { class: "hl-tabs", role: "tablist", "aria-label": label, "data-testid": testid });
  const mark = (code) =>
    bar.querySelectorAll("button").forEach((button) => {
      const here = button.getAttribute(name) === code;
      button.setAttribute("aria-selected", String(here));
      button.tabIndex = here ? 0 : -1;
    });
  const pick = (code) => (mark(code), choose(code));
  for (const [code, text] of options) {
    bar.append(el("button", { type: "button", role: "tab", [name]: code, onclick: () => pick(code) }, text));
  }
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const buttons = [...bar.children];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
    event.preventDefault();
    event.stopPropagation();
  });
  mark(chosen);
  return { bar, mark };
}

/** A button that opens a panel below it, made when it is first needed; Escape and a click elsewhere close it. */
export function menu(sign, text, testid, make) {
  const panel = el("div", { class: "hl-panel", hidden: true });
  const button = el(
    "button",
    {
      type: "button",
      class: "hl-plain hl-sign",
      "aria-expanded": "false",
      title: text,
      "aria-label": text,
      "data-testid": testid,
    },
    sign,
  );
  const close = () => {
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  button.addEventListener("click", () => {
    const opens = panel.hidden;
    if (opens) panel.replaceChildren(...make(close));
    panel.hidden = !opens;
    button.setAttribute("aria-expanded", String(opens));
  });
  const box = el("div", { class: "hl-menu" }, button, panel);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    close();
    button.focus();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => box.contains(event.target) || close());
  return { box, renew: () => panel.hidden || panel.replaceChildren(...make(close)) };
}

/** Puts a text on the clipboard; over plain HTTP, where browsers have no clipboard for pages, as a reader would. */
export function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = el("textarea", {}, text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
