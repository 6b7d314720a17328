/** Canvases as sharp as the screen. */

/**
 * Make a canvas as many device pixels large as it is shown, and return its context in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @returns {{pen: CanvasRenderingContext2D, width: number, height: number}}
 */
export function fit(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(Math.round(width * ratio), 1);
  const high = Math.max(Math.round(height * ratio), 1);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width, height };
}

/** @type {Map<string, {small: OffscreenCanvas, pen: OffscreenCanvasRenderingContext2D, image: ImageData, words: Uint32Array}>} */
const tiles = new Map();

/**
 * A small picture, each pixel a colour as 0xAABBGGRR; it is overwritten by the next one of the same size.
 * @param {number} width
 * @param {number} height
 * @param {(i: number) => number} colour
 */
export function tile(width, height, colour) {
  const key = `${width} ${height}`;
  let kept = tiles.get(key);
  if (!kept) {
    const small = new OffscreenCanvas(width, height);
    const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d", { willReadFrequently: true }));
    const image = pen.createImageData(width, height);
    kept = { small, pen, image, words: new Uint32Array(image.data.buffer) };
    tiles.set(key, kept);
  }
  const { small, pen, image, words } = kept;
  for (let i = 0; i < words.length; i++) words[i] = colour(i);
  pen.putImageData(image, 0, 0);
  return small;
}
