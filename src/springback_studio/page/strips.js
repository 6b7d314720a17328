/** Panels that scroll with time: the posterior of the eleven classes, and the raster of the units. */

import { fit } from "./canvas.js";
import { colours, css } from "./colours.js";

/** @typedef {import("./types.js").Stage} Stage */
/** @typedef {{frame: number, posterior: number[], label: number | null, marks: Uint8Array}} Column */

export const N_COLUMNS = 90;
const LEFT = 34;
const NOISE = 10;

/** @param {number} label */
const nameOf = (label) => (label === NOISE ? "noise" : label < 0 ? "–" : String(label));

/**
 * Where the column of a frame stands: the newest at the right edge.
 * @param {number} width
 * @param {number} newest
 * @param {number} frame
 */
function place(width, newest, frame) {
  const step = (width - LEFT) / N_COLUMNS;
  return { x: width - (newest - frame + 1) * step, step };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns oldest first
 * @param {string} tone name of the colour
 */
export function drawPosterior(canvas, columns, tone) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const row = height / 11;
  pen.fillStyle = css(colours.well);
  pen.fillRect(LEFT, 0, width - LEFT, height);
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.fillStyle = css(colours.faint);
  for (let label = 0; label <= NOISE; label++) pen.fillText(nameOf(label), LEFT - 5, (label + 0.5) * row);
  const newest = columns.length ? columns[columns.length - 1].frame : 0;
  for (const column of columns) {
    const { x, step } = place(width, newest, column.frame);
    if (x < LEFT - 0.01) continue;
    column.posterior.forEach((share, label) => {
      if (share < 0.01) return;
      pen.fillStyle = css(colours[tone], 0.12 + 0.88 * share);
      pen.fillRect(x, label * row + 0.5, step + 0.3, row - 1);
    });
    if (column.label !== null) {
      pen.strokeStyle = css(colours.ink, 0.9);
      pen.lineWidth = 1;
      for (const y of [column.label * row + 0.5, (column.label + 1) * row - 0.5]) {
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(x + step, y);
        pen.stroke();
      }
    }
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns
 * @param {string} tone
 * @param {Stage} stage
 */
export function drawRaster(canvas, columns, tone, stage) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const row = height / stage.n_rows;
  pen.fillStyle = css(colours.well);
  pen.fillRect(LEFT, 0, width - LEFT, height);
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  stage.bands.forEach(([label, first, n], i) => {
    if (i % 2) {
      pen.fillStyle = css(colours.line, 0.45);
      pen.fillRect(LEFT, first * row, width - LEFT, n * row);
    }
    pen.fillStyle = css(colours.faint);
    if (n * row > 7) pen.fillText(nameOf(label), LEFT - 5, (first + n / 2) * row);
  });
  const newest = columns.length ? columns[columns.length - 1].frame : 0;
  const tall = Math.max(row, stage.spikes ? 1.6 : 2.2);
  for (const column of columns) {
    const { x, step } = place(width, newest, column.frame);
    if (x < LEFT - 0.01) continue;
    for (let at = 0; at < column.marks.length; at += 4) {
      const y = (column.marks[at] + 256 * column.marks[at + 1]) * row;
      const strength = column.marks[at + 3] / 255;
      pen.fillStyle = css(colours[tone], 0.25 + 0.75 * strength);
      if (stage.spikes) pen.fillRect(x + (column.marks[at + 2] / 256) * step, y, 1.1, tall);
      else pen.fillRect(x, y + (row - tall) / 2, step + 0.3, tall);
    }
  }
}

/**
 * The posterior of this moment as bars.
 * @param {HTMLCanvasElement} canvas
 * @param {number[]} posterior
 * @param {number | null} truth
 * @param {string} tone
 */
export function drawBars(canvas, posterior, truth, tone) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const step = width / 11;
  const room = height - 16;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  posterior.forEach((share, label) => {
    const wide = Math.min(step - 3, 22);
    const x = (label + 0.5) * step - wide / 2;
    pen.fillStyle = css(colours.well);
    pen.fillRect(x, 0, wide, room);
    pen.fillStyle = css(colours[tone]);
    pen.fillRect(x, room * (1 - share), wide, room * share);
    pen.fillStyle = css(label === truth ? colours.ink : colours.faint);
    pen.font = `${label === truth ? "700 " : ""}11px system-ui, sans-serif`;
    pen.fillText(label === NOISE ? "∅" : String(label), x + wide / 2, height - 3);
    if (label === truth) {
      pen.strokeStyle = css(colours.ink);
      pen.lineWidth = 1.5;
      pen.strokeRect(x - 0.75, 0.75, wide + 1.5, room - 0.75);
    }
  });
}
