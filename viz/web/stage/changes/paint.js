// Blocks or opens the cells of a mask that the pointer is drawn over.

import { has } from "./head_switches.js";
import { viewOf } from "../main/view.js";

/**
 * @param {import("./steer.js").Steering} steering
 * @param {PointerEvent} event  where it begins
 */
export function paint(steering, event) {
  const { stage } = steering;
  const { state, kind, map } = stage;
  const start = map.cellAt(event);
  if (!kind || state.view !== "mask" || !steering.acts || state.table || !start || event.button !== 0) return;
  event.preventDefault();
  event.stopPropagation();
  const edit = steering.payload.cells.find((cell) => has([cell], kind.code, ...start));
  const isOpen = edit ? edit[3] : viewOf(stage)?.z?.[start[0]][start[1]];
  const open = !isOpen;
  /** @type {number[][]} */
  const cells = [];
  /** @type {HTMLElement[]} */
  const marks = [];
  const move = (/** @type {PointerEvent} */ pointer) => {
    const place = map.cellAt(pointer);
    if (!place || has(cells, ...place)) return;
    cells.push(place);
    marks.push(map.mark(place, open ? "opened" : "blocked"));
  };
  const listeners = new AbortController();
  const end = (/** @type {PointerEvent} */ { type }) => {
    listeners.abort();
    marks.forEach((mark) => mark.remove());
    if (type === "pointerup") steering.act({ do: "cells", kind: kind.code, cells, open });
  };
  move(event);
  const { signal } = listeners;
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}
