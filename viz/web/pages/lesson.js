// Keys of a lesson: the arrows, and the keys of a presenter's remote, press its buttons.

/** @type {Record<string, string>} names of buttons, by key */
const BUTTONS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave" };
const OWN = "input, select, textarea, [role=gridcell], [role=tab], [role=radio], [role=slider], [role=combobox]";

/** @param {KeyboardEvent} event */
function pressButton(event) {
  const name = BUTTONS[event.key];
  if (!name || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target instanceof Element && event.target.closest(OWN)) return;
  const button = document.querySelector(`.st-key-lesson-${name} button:not([disabled])`);
  if (!(button instanceof HTMLElement)) return;
  event.preventDefault();
  button.click();
}

export function keys() {
  document.addEventListener("keydown", pressButton); // adding it twice has no effect
}

export function leave() {
  document.removeEventListener("keydown", pressButton);
}
