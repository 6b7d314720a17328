/** The panels of one's own stream that scroll with time, for classes with any names. */

import { fit } from "./canvas.js";
import { colours, css } from "./colours.js";

/** @typedef {[number, number][]} Shares class and share, the largest first */
/** @typedef {{frame: number, shares: [Shares, Shares], novelty: number | null, truth: number | null, values?: number[]}} Column */

export const N_COLUMNS = 240;
const LEFT = 92;
const ROWS_MAX = 8;

/**
 * The classes that matter in these columns, in the order of their numbers.
 * @param {Column[]} columns
 * @param {number} n_classes
 * @returns {number[]}
 */
export function shownClasses(columns, n_classes) {
  if (n_classes <= ROWS_MAX) return Array.from({ length: n_classes }, (_, i) => i);
  /** @type {Map<number, number>} */
  const weight = new Map();
  for (const { shares } of columns) {
    for (const both of shares) for (const [label, share] of both) weight.set(label, (weight.get(label) ?? 0) + share);
  }
  const ranked = [...weight.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, ROWS_MAX);
  return ranked.map(([label]) => label).sort((a, b) => a - b);
}

/**
 * Text that fits into a width.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} width
 */
function clipped(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let short = text;
  while (short.length > 1 && pen.measureText(`${short}…`).width > width) short = short.slice(0, -1);
  return `${short}…`;
}

/**
 * An empty panel with a named row for each class that matters.
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns
 * @param {string[]} names
 */
function emptyRows(canvas, columns, names) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const classes = shownClasses(columns, names.length);
  const row = height / Math.max(classes.length, 1);
  pen.fillStyle = css(colours.well);
  pen.fillRect(LEFT, 0, width - LEFT, height);
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.fillStyle = css(colours.faint);
  classes.forEach((label, i) => pen.fillText(clipped(pen, names[label] ?? String(label), LEFT - 12), LEFT - 8, (i + 0.5) * row));
  return { pen, width, classes, row };
}

/**
 * Where the column of a frame stands: the newest at the right edge.
 * @param {number} width
 * @param {Column[]} columns
 * @param {Column} column
 */
function place(width, columns, column) {
  const step = (width - LEFT) / N_COLUMNS;
  return { x: width - (columns[columns.length - 1].frame - column.frame + 1) * step, step };
}

/**
 * The probability of each class over time; lines mark the truth, where it is known.
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns oldest first
 * @param {string[]} names
 * @param {number} which 0: with memory, 1: without
 */
export function drawShares(canvas, columns, names, which) {
  const { pen, width, classes, row } = emptyRows(canvas, columns, names);
  const at = new Map(classes.map((label, i) => [label, i]));
  for (const column of columns) {
    const { x, step } = place(width, columns, column);
    if (x < LEFT - 0.01) continue;
    for (const [label, share] of column.shares[which]) {
      const i = at.get(label);
      if (i === undefined) continue;
      pen.fillStyle = css(colours[which ? "static" : "adapting"], 0.08 + 0.92 * share);
      pen.fillRect(x, i * row + 0.5, step + 0.3, row - 1);
    }
    const truth = column.truth === null ? undefined : at.get(column.truth);
    if (truth !== undefined) {
      pen.fillStyle = css(colours.ink, 0.9);
      for (const y of [truth * row, (truth + 1) * row - 1.5]) pen.fillRect(x, y, step + 0.3, 1.5);
    }
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns
 */
export function drawNovelty(canvas, columns) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = css(colours.well);
  pen.fillRect(LEFT, 0, width - LEFT, height);
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.fillStyle = css(colours.faint);
  pen.fillText("new", LEFT - 8, 8);
  pen.fillText("familiar", LEFT - 8, height - 8);
  pen.fillStyle = css(colours.seen, 0.75);
  for (const column of columns) {
    const { x, step } = place(width, columns, column);
    if (x < LEFT - 0.01 || column.novelty === null) continue;
    const high = Math.min(Math.max(column.novelty, 0), 1) * (height - 2);
    pen.fillRect(x, height - high - 1, step + 0.3, high + 1);
  }
}

/**
 * By how much memory raises the probability of each class now.
 * @param {Column | undefined} column
 * @returns {Shares}
 */
export function addedByMemory(column) {
  const without = new Map(column?.shares[1] ?? []);
  return (column?.shares[0] ?? []).map(([label, share]) => [label, Math.max(share - (without.get(label) ?? 0), 0)]);
}

/**
 * How much of each class is remembered, as bars.
 * @param {HTMLCanvasElement} canvas
 * @param {Shares} memory
 * @param {Column[]} columns
 * @param {string[]} names
 */
export function drawSprings(canvas, memory, columns, names) {
  const { pen, width, classes, row } = emptyRows(canvas, columns, names);
  const shares = new Map(memory);
  classes.forEach((label, i) => {
    pen.fillStyle = css(colours.adapting, 0.85);
    pen.fillRect(LEFT, i * row + 1, (width - LEFT) * (shares.get(label) ?? 0), row - 2);
  });
}

/**
 * Channels over time: few as lines, many as rows of a picture. Each is scaled to its own range in view.
 * @param {HTMLCanvasElement} canvas
 * @param {Column[]} columns
 */
export function drawChannels(canvas, columns) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const rows = columns.map(({ values }) => values ?? []);
  const n = rows.length ? rows[rows.length - 1].length : 0;
  if (!n) return;
  const step = width / N_COLUMNS;
  const band = height / n;
  const newest = columns[columns.length - 1].frame;
  for (let channel = 0; channel < n; channel++) {
    const all = rows.map((row) => row[channel] ?? 0);
    const low = Math.min(...all);
    const span = Math.max(...all) - low || 1;
    pen.strokeStyle = pen.fillStyle = css(colours.ink);
    pen.lineWidth = 1.4;
    pen.beginPath();
    all.forEach((value, i) => {
      const x = width - (newest - columns[i].frame + 1) * step;
      const share = (value - low) / span;
      if (n <= 8) pen.lineTo(x, (channel + 0.92 - 0.84 * share) * band);
      else {
        pen.fillStyle = css(colours.ink, 0.05 + 0.9 * share);
        pen.fillRect(x, channel * band, step + 0.3, band);
      }
    });
    if (n <= 8) pen.stroke();
  }
}

/**
 * The outline of a sound.
 * @param {HTMLCanvasElement} canvas
 * @param {number} n how many pairs
 * @param {(i: number) => [number, number]} pair lowest and highest, -1 ... 1
 */
export function drawSound(canvas, n, pair) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = css(colours.line);
  pen.fillRect(0, height / 2 - 0.5, width, 1);
  pen.fillStyle = css(colours.seen);
  for (let i = 0; i < n; i++) {
    const [low, high] = pair(i);
    const top = (0.5 - 0.48 * high) * height;
    pen.fillRect((i / n) * width, top, width / n + 0.3, Math.max((0.5 - 0.48 * low) * height - top, 1));
  }
}
