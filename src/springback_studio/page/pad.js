/** The drawing pad: strokes on 112 x 112 pixels, sent as they grow. */

import { colours, css } from "./colours.js";

const SIDE = 112;
const PEN = 9;
const MS_BETWEEN = 80;

export class Pad {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(bytes: Uint8Array) => void} send
   */
  constructor(canvas, send) {
    this.canvas = canvas;
    this.send = send;
    this.ink = new OffscreenCanvas(SIDE, SIDE);
    this.brush = /** @type {OffscreenCanvasRenderingContext2D} */ (this.ink.getContext("2d", { willReadFrequently: true }));
    this.drawing = false;
    this.last = [0, 0];
    this.timer = 0;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.up());
    this.clear(false);
  }

  /** @param {boolean} [tell] */
  clear(tell = true) {
    this.brush.fillStyle = "#000";
    this.brush.fillRect(0, 0, SIDE, SIDE);
    this.repaint();
    if (tell) this.send(this.bytes());
  }

  /** @param {PointerEvent} event */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drawing = true;
    this.last = this.at(event);
    this.stroke(this.last);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.drawing) this.stroke(this.at(event));
  }

  up() {
    this.drawing = false;
  }

  /** @param {number[]} to */
  stroke(to) {
    this.brush.strokeStyle = "#fff";
    this.brush.lineWidth = PEN;
    this.brush.lineCap = "round";
    this.brush.beginPath();
    this.brush.moveTo(this.last[0], this.last[1]);
    this.brush.lineTo(to[0] + 0.01, to[1]);
    this.brush.stroke();
    this.last = to;
    this.repaint();
    if (!this.timer) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.send(this.bytes());
      }, MS_BETWEEN);
    }
  }

  bytes() {
    const { data } = this.brush.getImageData(0, 0, SIDE, SIDE);
    return Uint8Array.from({ length: SIDE * SIDE }, (_, i) => data[4 * i]);
  }

  repaint() {
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const bytes = this.bytes();
    const image = pen.createImageData(SIDE, SIDE);
    const [red, green, blue] = colours.ink;
    for (let i = 0; i < bytes.length; i++) image.data.set([red, green, blue, bytes[i]], 4 * i);
    pen.putImageData(image, 0, 0);
    pen.globalCompositeOperation = "destination-over";
    pen.fillStyle = css(colours.well);
    pen.fillRect(0, 0, SIDE, SIDE);
    pen.globalCompositeOperation = "source-over";
  }
}
