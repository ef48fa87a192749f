// What stands beside a picture of a sheet: what it shows in words, the Python that makes it, and files of it. The host
// makes them when the menu is opened.

import { button, copyText, el, setChildren } from "../stage/frame/dom.js";
import { saveFile } from "../stage/frame/file.js";
import { menu } from "../stage/frame/widgets.js";
import { pictureButtons } from "../plot/pictures.js";

/** @typedef {import("./types.js").Saving} Saving */

const FORMATS = ["html", "csv"];

export class Save {
  picture = "";

  /** @param {Saving} saving */
  constructor(saving) {
    this.saving = saving;
    const { words } = saving;
    this.root = el("div.sheet-save", menu("save-code", words.save, words.save, () => this.open()));
  }

  /** @param {string} [picture]  its name; without one there is nothing to save */
  show(picture = "") {
    this.picture = picture;
    this.root.hidden = !picture;
  }

  /** The panel, which is filled once the host has answered. */
  open() {
    const { saving, picture } = this;
    const box = el("div.sheet-saved", el("p.note", { role: "status" }, saving.words.waiting));
    saving.read(picture).then(
      (saved) => setChildren(box, this.parts(saved)),
      (error) => setChildren(box, el("p.note", { role: "alert" }, saving.problem(error))),
    );
    return box;
  }

  /** @param {import("./types.js").Saved} saved */
  parts({ text, code, picture: figure }) {
    const { saving, picture } = this;
    const { words } = saving;
    const file = (/** @type {string} */ format) =>
      button("picture", format.toUpperCase(), async () => saveFile(`${figure.name}.${format}`, `text/${format}`, await saving.file(picture, format)));
    return [
      el("p.sheet-words", { tabindex: "0" }, text),
      code && el("p.note", words.about_code),
      code && el("pre", { tabindex: "0" }, code),
      code && button("plain", words.copy, () => copyText(code)),
      el("div.pictures-of", pictureButtons(figure), FORMATS.map(file)),
    ];
  }
}
