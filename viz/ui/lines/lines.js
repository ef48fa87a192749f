// Lines from the tokens that ask (left) to the tokens that are read (right). A colour is a head, opacity is the weight.
// Pointing at a token shows only its lines, a click pins it; a click on a head takes its lines away and brings them
// back, a double-click shows it alone. Everything can be reached with Tab; Enter clicks, Shift+Enter double-clicks.
// Texts are only ever set by textContent: a token is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";
const NAMED = 3; // keys or queries that a sentence about a token names

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// A sentence with its places filled: "“{token}” reads {parts}".
function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".lines");
  const { heads, queries, keys, rowHeight, words } = data;
  // What was switched off stays off when another sentence comes, as long as the heads are the same ones.
  const same = root.headNames === heads.map((head) => head.name).join("\n");
  const off = same ? root.off : new Set();
  root.off = off;
  root.headNames = heads.map((head) => head.name).join("\n");
  let pinned = null;

  const legend = element("div", "heads");
  legend.setAttribute("role", "group");
  legend.setAttribute("aria-label", words.heads);
  const said = element("div", "said", data.hint);
  said.setAttribute("aria-live", "polite");
  const body = element("div", "body");
  const height = Math.max(queries.length, keys.length) * rowHeight;
  const picture = drawn("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.style.height = `${height}px`;

  const all = data.lines.map(([head, query, key], i) => {
    const node = drawn("line", {
      x1: 0, y1: (query + 0.5) * rowHeight, x2: 100, y2: (key + 0.5) * rowHeight,
      stroke: heads[head].color, "stroke-opacity": data.weights[i], "stroke-dasharray": heads[head].dash,
      "data-head": head, "data-query": query, "data-key": key,
    });
    picture.appendChild(node);
    return { node, head, query, key, weight: data.weights[i] };
  });

  // "Head 3: “Hund” reads “dog” 0.82, “the” 0.07", over the heads that are on: the strongest lines of a token.
  const sentence = ({ side, place }) => {
    const [own, other] = side === "query" ? [queries, keys] : [keys, queries];
    const mine = all.filter((line) => line[side] === place && !off.has(line.head)).reverse(); // the strongest first
    const verb = side === "query" ? "reads" : "read by";
    if (!mine.length) return filled(words[`${verb} nothing`], { token: own[place] });
    const parts = mine.slice(0, NAMED).map((line) => {
      const token = other[side === "query" ? line.key : line.query];
      return filled(words.part, { token, weight: line.weight.toFixed(2), head: heads[line.head].name });
    });
    return filled(words[verb], { token: own[place], parts: parts.join(", ") + (mine.length > NAMED ? " …" : "") });
  };
  const show = (token) => {
    for (const line of all) {
      const hidden = off.has(line.head) || (token && line[token.side] !== token.place);
      line.node.style.display = hidden ? "none" : "";
    }
    for (const { node, side, place } of tokens) {
      const read = token && side !== token.side
        && all.some((line) => !off.has(line.head) && line[token.side] === token.place && line[side] === place);
      node.classList.toggle("read", Boolean(read));
      node.setAttribute("aria-pressed", String(pinned?.side === side && pinned.place === place));
    }
    said.textContent = token ? sentence(token) : data.hint;
  };
  const column = (side, names, title) => {
    const made = element("div", `column ${side}`);
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", title);
    names.forEach((name, place) => {
      const node = element("button", "token", name);
      const token = { node, side, place };
      Object.assign(node, { type: "button", title: name });
      node.style.height = `${rowHeight}px`;
      node.onmouseenter = node.onfocus = () => show(token);
      node.onmouseleave = node.onblur = () => show(pinned);
      node.onclick = () => {
        pinned = pinned?.side === side && pinned.place === place ? null : token;
        show(pinned ?? token);
      };
      tokens.push(token);
      made.appendChild(node);
    });
    return made;
  };

  const swatches = heads.map((head, i) => {
    const node = element("button", "head", head.name);
    node.type = "button";
    const line = drawn("svg", { class: "swatch", viewBox: "0 0 24 4", "aria-hidden": "true" });
    line.appendChild(drawn("line", { x1: 0, y1: 2, x2: 24, y2: 2, stroke: head.color, "stroke-dasharray": head.dash }));
    node.prepend(line);
    const only = () => {
      const alone = heads.length - off.size === 1 && !off.has(i);
      off.clear();
      if (!alone) heads.forEach((_, other) => other !== i && off.add(other));
      light();
    };
    node.onclick = () => {
      if (!off.delete(i)) off.add(i);
      light();
    };
    node.ondblclick = only; // its two clicks have undone each other
    node.onkeydown = (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      only();
    };
    legend.appendChild(node);
    return node;
  });
  const everything = element("button", "head every", words.all);
  everything.type = "button";
  everything.onclick = () => {
    off.clear();
    light();
  };
  if (heads.length > 1) legend.appendChild(everything);
  const light = () => {
    swatches.forEach((node, i) => node.setAttribute("aria-pressed", String(!off.has(i))));
    show(pinned);
  };

  const tokens = [];
  const titles = element("div", "titles");
  titles.append(element("span", "", data.titles[0]), element("span", "", data.titles[1]));
  body.append(column("query", queries, data.titles[0]), picture, column("key", keys, data.titles[1]));
  root.onkeydown = (event) => {
    if (event.key === "Escape") show((pinned = null));
  };
  root.replaceChildren(legend, said, titles, body);
  light();
}
