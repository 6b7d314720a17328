/** Still panels: the input under its curtain, the maps of the units, thumbnails. */

import { fit, tile } from "./canvas.js";
import { colours, css, ramp } from "./colours.js";

/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Stage} Stage */

/**
 * Ink on paper, in the colours of the theme.
 * @param {HTMLCanvasElement} canvas 28 x 28
 * @param {Uint8Array} pixels
 */
export function drawDigit(canvas, pixels) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const ink = ramp("ink");
  pen.drawImage(tile(28, 28, (i) => ink[pixels[i]]), 0, 0);
}

/**
 * The hidden rows, hatched to show that they are not simply empty.
 * @param {HTMLCanvasElement} canvas
 * @param {number} rows
 */
export function drawCurtain(canvas, rows) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  if (rows <= 0) return;
  const bottom = (rows / 28) * height;
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, width, bottom);
  pen.clip();
  pen.fillStyle = css(colours.line, 0.65);
  pen.fillRect(0, 0, width, bottom);
  pen.strokeStyle = css(colours.faint, 0.35);
  pen.lineWidth = 1.5;
  for (let x = -height; x < width; x += 9) {
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x + height, height);
    pen.stroke();
  }
  pen.restore();
  pen.fillStyle = css(colours.ink, 0.75);
  pen.fillRect(0, bottom - 1.5, width, 3);
}

/**
 * A unit's weights as a small picture; in "G" the ink is what rests and the colour what is stretched.
 * @param {Picture} picture
 * @param {"W" | "F" | "G" | "static"} kind
 * @param {Stage} stage
 * @param {number} unit its place among the most active
 */
function mapOf({ head, maps }, kind, stage, unit) {
  const [high, wide] = stage.map_shape;
  const at = unit * high * wide;
  const bytes = maps[kind];
  if (kind !== "G") {
    const ink = ramp(kind === "F" ? "adapting" : "ink");
    return tile(wide, high, (i) => ink[bytes[at + i]]);
  }
  const inks = Array.from({ length: 17 }, (_, tint) => ramp("ink", "adapting", tint));
  const odds = head.levels.G > 0 ? (16 * head.levels.F) / head.levels.G : 0;
  return tile(wide, high, (i) => {
    const whole = bytes[at + i];
    const tint = whole ? Math.min(Math.round(odds * (maps.F[at + i] / whole) ** 2), 16) : 0;
    return inks[tint][whole];
  });
}

/**
 * The winning unit, large: rest + stretch = now, next to the input that pulls it.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {Stage} stage
 */
export function drawWinner(canvas, picture, stage) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  const side = Math.min((width - 40) / 2, (height - 64) / 2);
  const left = (width - 2 * side - 40) / 2;
  const ink = ramp("ink");
  /** @type {[() => OffscreenCanvas, string][]} */
  const parts = [
    [() => mapOf(picture, "W", stage, 0), "rest W"],
    [() => mapOf(picture, "F", stage, 0), "+ stretch F"],
    [() => mapOf(picture, "G", stage, 0), "= now G"],
    [() => tile(28, 28, (i) => ink[picture.input[i]]), "input"],
  ];
  pen.imageSmoothingEnabled = false;
  pen.font = "12px system-ui, sans-serif";
  parts.forEach(([make, name], i) => {
    const x = left + (i % 2) * (side + 40);
    const y = Math.floor(i / 2) * (side + 34);
    pen.drawImage(make(), x, y, side, side);
    pen.strokeStyle = css(i === 3 ? colours.seen : colours.line);
    pen.lineWidth = i === 3 ? 2 : 1;
    pen.strokeRect(x, y, side, side);
    pen.fillStyle = css(i === 1 ? colours.adapting : i === 3 ? colours.seen : colours.faint);
    pen.fillText(name, x, y + side + 17);
  });
}

/**
 * The weights of the most active units side by side.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {"W" | "F" | "G" | "static"} kind
 * @param {Stage} stage
 */
export function drawMaps(canvas, picture, kind, stage) {
  const { pen, width, height } = fit(canvas);
  const { head } = picture;
  const labels = kind === "static" ? head.static_labels : head.unit_labels;
  const perRow = width / height > 4 ? 8 : 4;
  const gap = 6;
  const side = (width - gap * (perRow - 1)) / perRow;
  pen.clearRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false;
  pen.textAlign = "center";
  pen.font = "11px system-ui, sans-serif";
  for (let unit = 0; unit < head.n_maps; unit++) {
    const x = (unit % perRow) * (side + gap);
    const y = Math.floor(unit / perRow) * (side + 18);
    pen.drawImage(mapOf(picture, kind, stage, unit), x, y, side, side);
    pen.strokeStyle = css(colours.line);
    pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    pen.fillStyle = css(colours.faint);
    const label = labels[unit];
    pen.fillText(label === 10 ? "noise" : label < 0 ? "–" : String(label), x + side / 2, y + side + 12);
  }
}
