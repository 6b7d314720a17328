/** The winning unit on the plane of two principal components: pulled by the input, springing back to rest. */

import { fit } from "./canvas.js";
import { colours, css } from "./colours.js";

/** @typedef {import("./types.js").Path} Path */
/** @typedef {import("./types.js").Plane} Plane */

const TRAIL = 60;

export class PathPanel {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {Plane | null} */
    this.plane = null;
    /** @type {number[][]} */
    this.trail = [];
    /** @type {Path | null} */
    this.path = null;
    this.painted = "";
    this.digits = new OffscreenCanvas(1, 1);
  }

  /** @param {Plane} plane */
  show(plane) {
    this.plane = plane;
    this.forget();
  }

  forget() {
    this.trail = [];
    this.path = null;
  }

  /** @param {Path | null} path */
  follow(path) {
    if (!path || (this.path && path.unit !== this.path.unit)) this.trail = [];
    this.path = path;
    if (path) {
      this.trail.push(path.now);
      this.trail.splice(0, this.trail.length - TRAIL);
    }
  }

  draw() {
    const { pen, width, height } = fit(this.canvas);
    pen.clearRect(0, 0, width, height);
    if (!this.plane || width < 1 || height < 1) return;
    const { points } = this.plane;
    const [low, high] = [Math.min, Math.max].map((pick) => [0, 1].map((axis) => pick(...points.map((p) => p[axis]))));
    const margin = 16;
    const scale = Math.min((width - 2 * margin) / (high[0] - low[0]), (height - 2 * margin) / (high[1] - low[1]));
    /** @param {number[]} p */
    const at = (p) => [
      Math.min(Math.max(width / 2 + (p[0] - (low[0] + high[0]) / 2) * scale, 6), width - 6),
      Math.min(Math.max(height / 2 - (p[1] - (low[1] + high[1]) / 2) * scale, 6), height - 6),
    ];
    pen.drawImage(this.background(width, height, at), 0, 0, width, height);
    if (this.path) this.drawPath(pen, at, this.path);
  }

  /**
   * The digits where they lie, those of the winner's class dark; painted again only when something about it changed.
   * @param {number} width
   * @param {number} height
   * @param {(p: number[]) => number[]} at
   */
  background(width, height, at) {
    const { points, labels } = /** @type {Plane} */ (this.plane);
    const mine = this.path ? this.path.label : -1;
    const key = [width, height, mine, colours.ink, points[0], devicePixelRatio].join(" ");
    if (key === this.painted) return this.digits;
    this.painted = key;
    this.digits = new OffscreenCanvas(Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio));
    const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (this.digits.getContext("2d"));
    pen.scale(devicePixelRatio, devicePixelRatio);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    points.forEach((point, i) => {
      pen.font = `${labels[i] === mine ? "600 13px" : "12px"} system-ui, sans-serif`;
      pen.fillStyle = css(labels[i] === mine ? colours.ink : colours.faint, labels[i] === mine ? 0.9 : 0.45);
      const [x, y] = at(point);
      pen.fillText(String(labels[i]), x, y);
    });
    return this.digits;
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {(p: number[]) => number[]} at
   * @param {Path} path
   */
  drawPath(pen, at, path) {
    const [rest, now] = [at(path.rest), at(path.now)];
    pen.strokeStyle = css(colours.adapting, 0.55);
    pen.lineWidth = 1.5;
    spring(pen, rest, now);
    for (let i = 1; i < this.trail.length; i++) {
      const [from, to] = [at(this.trail[i - 1]), at(this.trail[i])];
      pen.strokeStyle = css(colours.adapting, 0.15 + (0.75 * i) / this.trail.length);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(from[0], from[1]);
      pen.lineTo(to[0], to[1]);
      pen.stroke();
    }
    if (path.input) {
      const [x, y] = at(path.input);
      pen.fillStyle = css(colours.seen);
      pen.beginPath();
      [[0, -8], [8, 0], [0, 8], [-8, 0]].forEach(([dx, dy]) => pen.lineTo(x + dx, y + dy));
      pen.fill();
      pen.strokeStyle = css(colours.card);
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    pen.fillStyle = css(colours.card);
    pen.strokeStyle = css(colours.ink);
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.arc(rest[0], rest[1], 6, 0, 7);
    pen.fill();
    pen.stroke();
    pen.fillStyle = css(colours.adapting);
    pen.strokeStyle = css(colours.card);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(now[0], now[1], 8, 0, 7);
    pen.fill();
    pen.stroke();
  }
}

/**
 * A coil between two points.
 * @param {CanvasRenderingContext2D} pen
 * @param {number[]} from
 * @param {number[]} to
 */
function spring(pen, from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 12) return;
  const turns = 9;
  const wide = 6;
  pen.beginPath();
  pen.moveTo(from[0], from[1]);
  for (let i = 1; i < 2 * turns; i++) {
    const along = i / (2 * turns);
    const aside = (i % 2 ? 1 : -1) * wide;
    pen.lineTo(from[0] + dx * along - (dy / length) * aside, from[1] + dy * along + (dx / length) * aside);
  }
  pen.lineTo(to[0], to[1]);
  pen.stroke();
}
