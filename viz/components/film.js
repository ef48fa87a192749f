// The decoding as a film. Everything is here from the start: a step changes only what is drawn and asks nobody.
// The slider takes the arrow keys, Home and End; the space bar on it plays and pauses. Nothing ever plays by itself.
// Where the film stands still, its step is written into the page's address, and read from there when the page opens.
// Cells are drawn on canvases, all texts are elements set by textContent: a token is never read as HTML, and texts
// follow the page's colours. What is said comes with the data, in the visitor's language; places in braces are filled
// here.

const CELL = { least: 9, most: 26, row: 24 }; // pixels; row is the height of the cross row
const NAME = 96; // pixels that a token may take beside a map
const LABEL = 12; // pixels that a label needs beside the next one
const GAP_UP_TO = 32; // rows or columns with a gap between cells
const NAMED = 3; // source tokens that the sentence about a step names
const PARAMETER = "film-step"; // of the address; nobody but this file reads or writes it
const REST = 300; // milliseconds without a step, after which the film stands still

function keepInAddress(step) {
  const address = new URL(window.location);
  if (step) address.searchParams.set(PARAMETER, step);
  else address.searchParams.delete(PARAMETER); // as for every choice: what holds without a word is left out
  if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address);
}

// The text with its {places} filled.
function fill(text, places) {
  return text.replace(/\{(\w+)\}/g, (_, name) => places[name]);
}

// The step that the address asks for, and what to say where there is no such step.
function askedStep(last, texts) {
  const asked = new URLSearchParams(window.location.search).get(PARAMETER);
  if (asked === null) return [0, ""];
  const step = /^[0-9]{1,4}$/.test(asked) ? Number(asked) : NaN;
  if (step <= last) return [step, ""];
  return [0, fill(texts.noStep, { asked: asked.slice(0, 20), last })];
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function hatched(context, x, y, width, height, [fill, line]) {
  context.fillStyle = fill;
  context.fillRect(x, y, width, height);
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = line;
  for (let at = x - height; at < x + width; at += 6) {
    context.beginPath();
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
    context.stroke();
  }
  context.restore();
}

// A map of rows (queries) by columns (keys) with its labels. `paint` draws the rows from `first` up to but without
// `end`, at most `columns` of each, and frames one of them; what is not drawn stays blank.
function makeMap({ rows, columns, values, colors, hatch, selected, texts, rowHeight }) {
  const node = element("div", "map");
  const rowNames = element("div", "rows");
  const canvas = element("canvas", "cells");
  const columnNames = element("div", "columns");
  canvas.setAttribute("role", "img");
  const names = rows.map((name) => Object.assign(element("div", "name", name), { title: name }));
  const keys = columns.map((name) => Object.assign(element("div", "name", name), { title: name }));
  rowNames.append(...names);
  columnNames.append(...keys);
  node.append(rowNames, canvas, element("div", "corner"), columnNames);
  let [width, height] = [0, 0];

  const size = (available) => {
    const count = columns.length;
    const room = Math.floor((available - NAME - 12) / count);
    width = Math.max(CELL.least, Math.min(CELL.most, room));
    height = rowHeight ?? Math.max(CELL.least, Math.min(20, width));
    const every = (cell) => Math.ceil(LABEL / cell);
    names.forEach((name, i) => {
      name.style.height = `${height}px`;
      name.style.lineHeight = `${height}px`;
      name.style.visibility = i % every(height) ? "hidden" : "";
    });
    keys.forEach((name, j) => {
      name.style.right = `${count * width - (j + 0.5) * width - 4}px`;
      name.style.visibility = j % every(width) ? "hidden" : "";
    });
    columnNames.style.width = `${count * width}px`;
  };

  const paint = ({ first, end, known, framed, words }) => {
    const ratio = window.devicePixelRatio || 1;
    const shown = rowHeight ? 1 : rows.length;
    const [wide, high] = [columns.length * width, shown * height];
    Object.assign(canvas, { width: wide * ratio, height: high * ratio });
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    Object.assign(canvas.dataset, { cellWidth: width * ratio, cellHeight: height * ratio });
    canvas.setAttribute("aria-label", words);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const gap = Math.max(shown, columns.length) > GAP_UP_TO ? 0 : 1;
    for (let i = first; i < end; i++) {
      for (let j = 0; j < columns.length; j++) {
        const [x, y] = [j * width, (i - first) * height];
        if (values[i][j] === null) hatched(context, x, y, width, height, hatch);
        else if (j < known) {
          context.fillStyle = colors[Math.round(values[i][j] * 255)];
          context.fillRect(x, y, width - gap, height - gap);
        }
      }
    }
    if (rowHeight) names.forEach((name, i) => (name.style.display = i === first ? "" : "none"));
    if (framed !== undefined) {
      context.strokeStyle = selected;
      context.lineWidth = 2;
      context.strokeRect(1, (framed - first) * height + 1, wide - 2, height - 2);
    }
    names.forEach((name, i) => {
      name.classList.toggle("current", i === framed);
      name.classList.toggle("later", i >= end);
    });
    keys.forEach((name, j) => name.classList.toggle("later", j >= known));
    canvas.cellAt = (event) => {
      const [i, j] = [first + Math.floor(event.offsetY / height), Math.floor(event.offsetX / width)];
      if (i < first || i >= end || j < 0 || j >= columns.length) return "";
      const value = values[i][j];
      const places = { i, j, query: rows[i], key: columns[j], weight: value?.toFixed(3) };
      return fill(value === null ? texts.masked : texts.cell, places);
    };
  };
  return { node, canvas, size, paint };
}

function panel(name, [title, line], content) {
  const made = element("figure", `panel ${name}`);
  const caption = element("figcaption", "caption");
  caption.append(element("strong", "", title), element("span", "line", line));
  made.append(caption, content);
  return made;
}

function legend({ colors, hatch, texts }) {
  const made = element("div", "legend");
  const bar = element("span", "bar");
  const stops = colors.filter((_, i) => i % 15 === 0);
  bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  const blocked = element("span", "blocked");
  blocked.style.background = `repeating-linear-gradient(135deg, ${hatch[0]} 0 3px, ${hatch[1]} 3px 4px)`;
  made.append(texts.nothing, bar, "1", blocked, texts.hatched);
  return made;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".film");
  root.stop?.(); // what still plays is another film's
  root.watch?.disconnect();
  const { texts } = data;
  const last = data.read.length - 1;
  const same = root.written === data.written.join("\n"); // another head of the same film: the step stays
  const [asked, problem] = root.written === undefined ? askedStep(last, texts) : [0, ""]; // the address is read once
  let step = same ? Math.min(root.step, last) : asked;
  root.written = data.written.join("\n");
  let timer = null;
  let resting = null;

  const settings = { colors: data.colors, hatch: data.hatch, selected: data.selected, texts };
  const maps = {
    decoder: makeMap({ rows: data.read, columns: data.read, values: data.decoder, ...settings }),
    cross: makeMap({ rows: data.read, columns: data.source, values: data.cross, rowHeight: CELL.row, ...settings }),
    encoder: makeMap({ rows: data.source, columns: data.source, values: data.encoder, ...settings }),
  };
  const next = element("div", "bars");
  const curve = element("div", "curve");
  curve.setAttribute("role", "img");
  const most = Math.max(...data.entropy) || 1;
  const columns = data.entropy.map((entropy) => {
    const made = element("span", "step");
    made.style.height = `${Math.max(2, (100 * entropy) / most)}%`;
    curve.appendChild(made);
    return made;
  });

  const said = element("p", "said");
  const tip = element("p", "tip", "");
  const range = element("input", "range");
  Object.assign(range, { type: "range", min: 0, max: last, step: 1, disabled: last === 0 });
  range.setAttribute("aria-label", texts.step);
  const button = (name, act) => {
    const made = element("button", "button", name);
    made.type = "button";
    made.onclick = act;
    return made;
  };

  const now = () => ({ step, last, read: data.read[step], written: data.written[step] });
  const entropyNow = () => data.entropy[step].toFixed(3);
  const sentence = () => {
    const cross = data.cross[step].map((weight, j) => [weight, j]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const looked = cross.slice(0, NAMED).map(([weight, j]) =>
      fill(texts.looked, { token: data.source[j], weight: weight.toFixed(3) })
    );
    return fill(texts.sentence, { ...now(), entropy: entropyNow(), looked: looked.join(", ") });
  };
  const drawNext = () => {
    next.replaceChildren(...data.candidates[step].map((name, rank) => {
      const probability = data.probabilities[step][rank];
      const line = element("div", "candidate");
      const bar = element("span", "bar");
      bar.style.setProperty("--share", probability);
      const written = name === data.written[step];
      line.classList.toggle("written", written);
      line.append(
        element("span", "name", name), bar, element("span", "number", probability.toFixed(3) + (written ? " ✓" : "")),
      );
      return line;
    }));
  };
  const draw = () => {
    const words = (kind) => `${data.panels[kind][0]}. ${data.panels[kind][1]}`;
    maps.decoder.paint({ first: 0, end: step + 1, known: step + 1, framed: step, words: words("decoder") });
    maps.cross.paint({ first: step, end: step + 1, known: data.source.length, words: words("cross") });
    maps.encoder.paint({
      first: 0, end: data.source.length, known: data.source.length, framed: data.mostRead[step], words: words("encoder"),
    });
    drawNext();
    columns.forEach((column, i) => {
      column.classList.toggle("later", i > step);
      column.classList.toggle("current", i === step);
    });
    curve.setAttribute("aria-label", `${words("entropy")} ${fill(texts.here, { entropy: entropyNow() })}`);
    said.textContent = sentence();
    range.value = step;
    range.setAttribute("aria-valuetext", fill(texts.stepNow, now()));
    tip.textContent = texts.point;
    root.step = step;
    root.dataset.step = step;
  };
  const rest = () => {
    clearTimeout(resting);
    resting = setTimeout(() => timer === null && keepInAddress(step), REST);
  };
  const go = (to) => {
    step = Math.max(0, Math.min(last, to));
    draw();
    rest();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    rest();
    play.textContent = texts.play;
    said.setAttribute("aria-live", "polite");
  };
  const start = () => {
    if (step === last) go(0);
    said.setAttribute("aria-live", "off"); // a film would talk without end
    play.textContent = texts.pause;
    timer = setInterval(() => {
      go(step + 1);
      if (step === last) stop();
    }, data.delay);
  };
  const toggle = () => (timer === null && last > 0 ? start() : stop());
  const byHand = (to) => {
    stop();
    go(to);
  };
  const play = button(texts.play, toggle);
  range.oninput = () => byHand(Number(range.value));
  range.onkeydown = (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    toggle();
  };
  for (const { canvas } of Object.values(maps)) {
    canvas.onpointermove = (event) => (tip.textContent = canvas.cellAt(event) || texts.notWritten);
  }

  const controls = element("div", "controls");
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", texts.film);
  controls.append(button(texts.back, () => byHand(step - 1)), play, button(texts.next, () => byHand(step + 1)), range);
  const entropy = element("div", "entropy-box");
  entropy.append(curve, element("span", "line", fill(texts.highest, { entropy: most.toFixed(3) })));
  const panels = element("div", "panels");
  panels.append(
    panel("decoder", data.panels.decoder, maps.decoder.node),
    panel("encoder", data.panels.encoder, maps.encoder.node),
    panel("cross", data.panels.cross, maps.cross.node),
    panel("next", data.panels.next, next),
    panel("entropy", data.panels.entropy, entropy),
  );
  root.replaceChildren(controls, said, tip, legend(data), panels);

  const fit = () => {
    for (const { node, size } of Object.values(maps)) size(node.parentElement.clientWidth || NAME * 4);
    draw();
  };
  stop();
  fit();
  tip.textContent = problem || tip.textContent;
  let fitted = root.clientWidth;
  root.watch = new ResizeObserver(() => {
    if (root.clientWidth === fitted) return; // only the width decides on the size of cells
    fitted = root.clientWidth;
    fit();
  });
  root.watch.observe(root);
  root.stop = () => {
    stop();
    clearTimeout(resting);
  };
  return () => {
    root.stop();
    root.watch.disconnect();
  };
}
