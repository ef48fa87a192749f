// Chips of the tokens of both sentences. Pointing at one (or reaching it with Tab) names the runner-up tokens,
// lights its row and column in its map, and underlines on the other chips how much is read there. Chips of one group
// light up together, each in its own map; pointing at a cell of such a map lights its row and column in all of them.
// Texts are only ever set by textContent: a token is never read as HTML.

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// A frame round one row or column of the map, wherever it is zoomed to; it lies outside and hides no cell of it.
function frame(plot, area, axis, place) {
  const range = plot.layout[axis + "axis"].range;
  const at = (value) => Math.min(1, Math.max(0, (value - range[0]) / (range[1] - range[0])));
  // Plotly's y grows upwards, the page's downwards.
  const ends = [at(place - 0.5), at(place + 0.5)].map((part) => (axis === "y" ? 1 - part : part));
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  if (to <= from) return;
  const [box, whole] = [area.getBoundingClientRect(), plot.getBoundingClientRect()];
  const made = element("div", "headlight-frame");
  const upright = axis === "x";
  Object.assign(made.style, {
    position: "absolute", pointerEvents: "none", outline: "2px solid #ff4b1f", zIndex: 5,
    left: `${box.left - whole.left + (upright ? from * box.width : 0)}px`,
    top: `${box.top - whole.top + (upright ? 0 : from * box.height)}px`,
    width: `${upright ? (to - from) * box.width : box.width}px`,
    height: `${upright ? box.height : (to - from) * box.height}px`,
  });
  plot.appendChild(made);
}

function unlight() {
  document.querySelectorAll(".headlight-frame").forEach((made) => made.remove());
}

function light(chip) {
  const plot = document.querySelector(`.st-key-${CSS.escape(chip.map)} .js-plotly-plot`);
  const area = plot?.querySelector(".nsewdrag");
  if (!area || !plot.layout) return;
  plot.style.position = "relative";
  if (chip.row >= 0) frame(plot, area, "y", chip.row);
  if (chip.column >= 0) frame(plot, area, "x", chip.column);
}

// The chart, row and column of the cell of a map that the mouse is on, wherever it is zoomed to; null elsewhere.
function cellUnder(event) {
  const area = event.target.closest?.(".nsewdrag");
  const plot = area?.closest(".js-plotly-plot");
  if (!plot?.layout) return null;
  const box = area.getBoundingClientRect();
  const at = (axis, part) => {
    const [first, last] = plot.layout[axis].range;
    return Math.round(first + part * (last - first));
  };
  return {
    plot,
    row: at("yaxis", 1 - (event.clientY - box.top) / box.height),
    column: at("xaxis", (event.clientX - box.left) / box.width),
  };
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".chips");
  const more = element("div", "more", data.hint);
  more.setAttribute("aria-live", "polite");
  const all = [];

  const show = (chip) => {
    unlight();
    more.textContent = chip.words;
    for (const other of all) {
      const together = other.chip === chip || (chip.group && other.chip.group === chip.group);
      if (together) light(other.chip);
      other.node.classList.toggle("together", Boolean(together && chip.group));
      if (!data.weights) continue;
      const asked = chip.row >= 0 && other.chip.column >= 0 ? data.weights[chip.row]?.[other.chip.column] : undefined;
      const given = chip.column >= 0 && other.chip.row >= 0 ? data.weights[other.chip.row]?.[chip.column] : undefined;
      const weight = asked ?? given;
      other.node.classList.toggle("read", weight !== undefined && other.chip !== chip);
      other.node.style.setProperty("--weight", weight ?? 0);
    }
  };
  const hide = () => {
    unlight();
    more.textContent = data.hint;
    for (const { node } of all) node.classList.remove("read", "together");
  };

  // The chips of the row and of the column of a cell, and their partners.
  let pointed = "";
  const point = (event) => {
    const cell = cellUnder(event);
    const map = cell && all.map(({ chip }) => chip.map).find((name) => cell.plot.closest(`.st-key-${CSS.escape(name)}`));
    const now = map ? `${map} ${cell.row} ${cell.column}` : "";
    if (now === pointed) return;
    pointed = now;
    hide();
    if (!map) return;
    for (const side of ["row", "column"]) {
      const own = all.find(({ chip }) => chip.map === map && chip[side] === cell[side])?.chip;
      for (const { node, chip } of all) {
        if (!own || (chip !== own && !(own.group && chip.group === own.group))) continue;
        light({ map: chip.map, row: -1, column: -1, [side]: chip[side] });
        node.classList.add("together");
      }
    }
  };

  root.replaceChildren();
  for (const line of data.lines) {
    const row = element("div", "row");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", line.name);
    for (const chip of line.chips) {
      const node = element("button", "chip", chip.token);
      node.type = "button";
      node.setAttribute("aria-label", chip.words);
      if (chip.note) node.appendChild(element("small", "", chip.note));
      node.onmouseenter = node.onfocus = () => show(chip);
      node.onmouseleave = node.onblur = hide;
      all.push({ node, chip });
      row.appendChild(node);
    }
    root.append(element("div", "name", line.name), row);
  }
  root.appendChild(more);
  const paired = all.some(({ chip }) => chip.group);
  if (paired) document.addEventListener("mousemove", point);
  return () => {
    document.removeEventListener("mousemove", point);
    unlight();
  };
}
