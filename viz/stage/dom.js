// Small parts of the page.
// @ts-nocheck

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Gives an element these children, or lists of them, but for empty ones. */
export const put = (box, ...children) => box.replaceChildren(...children.flat(2).filter(Boolean));

/** An element: "tag.class#part" (hl-class; stage-part for tests), properties ("on..." are listeners), children. */
export function el(name, ...children) {
  const properties = children[0]?.constructor === Object ? children.shift() : {};
  const [look, part] = name.split("#");
  const [tag, ...classes] = look.split(".");
  const space = `http://www.w3.org/${tag === "svg" ? "2000/svg" : "1999/xhtml"}`;
  const made = document.createElementNS(space, tag);
  const all = {
    class: classes.map((one) => `hl-${one}`).join(" ") || null,
    "data-testid": part && `stage-${part}`,
    ...properties,
  };
  for (const [key, value] of Object.entries(all)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if ((value ?? false) !== false) made.setAttribute(key, value === true ? "" : value);
  }
  put(made, children);
  return made;
}

export function dress(one, looks) {
  for (const [name, on] of Object.entries(looks)) one.classList.toggle(`hl-${name}`, Boolean(on));
}

export const button = (look, text, onclick, properties = {}) =>
  el(`button.${look}`, { type: "button", onclick, ...properties }, text);

export const named = (text) => ({ title: text, "aria-label": text });

export const icon = (look, sign, text, onclick) => button(`plain.sign${look}`, sign, onclick, named(text));

export function select(options, chosen, choose, properties, look = "") {
  const option = ([value, text]) => el("option", { value, selected: value === chosen }, text);
  return el(`select${look}`, { ...properties, onchange: ({ target }) => choose(target.value) }, options.map(option));
}

/** A number as the language of the page writes it. */
export function decimals(value, n) {
  const [, mark] = (0.5).toLocaleString(document.documentElement.lang || "en");
  return value.toFixed(n).replace(".", mark);
}

export const change = (value) => (value > 0 ? "+" : "") + decimals(value, 2);

export const percent = (share) => `${decimals(100 * share, 1)} %`;

/** One side (0 or 1) of words in pairs; those that differ have a class. */
export const marked = (pairs, side, look) =>
  pairs
    .filter((pair) => pair[side])
    .flatMap((pair) => [" ", pair[0] === pair[1] ? pair[side] : el(`span.${look}`, pair[side])])
    .slice(1);

/** Calls move(target, right, down) for arrow keys, without `rows` only for those along the line. */
export function arrows(box, move, rows = false) {
  box.addEventListener("keydown", (event) => {
    const [down, right] = STEPS[event.key] ?? [];
    if (right === undefined || (down && !rows)) return;
    event.preventDefault();
    move(event.target, right, down);
  });
}

let library;

/** Our own copy of Plotly, loaded once. */
export function plotly() {
  library ??= new Promise((done, failed) => {
    const onerror = () => ((library = null), failed(new Error("Plotly")));
    const { href: src } = document.querySelector("link[data-plotly]");
    document.head.append(el("script", { src, onload: () => done(window.Plotly), onerror }));
  });
  return library;
}

export function mark(one, chosen) {
  one.ariaSelected = chosen;
  one.tabIndex = chosen ? 0 : -1;
}

/** Buttons that choose one of codes, which `words` say, or of [code, text]. */
export function tabs(words, part, name, options, chosen, choose) {
  const all = options.map((option) => {
    const [code, text] = Array.isArray(option) ? option : [option, words[option]];
    const pick = () => (bar.mark(code), choose({ [name]: code }));
    return button("tab", text, pick, { role: "tab", [`data-${name}`]: code });
  });
  const bar = el(`div.tabs#${part}`, { role: "tablist", "aria-label": words[part] }, all);
  bar.mark = (code) => all.forEach((one) => mark(one, one.dataset[name] === code));
  bar.mark(chosen);
  arrows(bar, (one, step) => {
    const next = all.at((all.indexOf(one) + step) % all.length);
    next.focus();
    next.click();
  });
  return bar;
}

/** A button that opens a panel, which Escape and a click elsewhere close. */
export function menu(part, sign, text, make) {
  const panel = el("div.panel", { hidden: true });
  const toggle = (open) => {
    if (open) put(panel, make(() => toggle(false)));
    panel.hidden = !open;
    opener.ariaExpanded = open;
  };
  const opener = icon(`#${part}`, sign, text, () => toggle(panel.hidden));
  const onkeydown = (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    toggle(false);
    opener.focus();
    event.stopPropagation();
  };
  const box = el("div.menu", { onkeydown }, opener, panel);
  toggle(false);
  document.addEventListener("pointerdown", (event) => box.contains(event.target) || toggle(false));
  box.renew = () => panel.hidden || toggle(true);
  return box;
}

/** Over plain HTTP, where pages have no clipboard, copies as a reader would. */
export function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = el("textarea", text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
