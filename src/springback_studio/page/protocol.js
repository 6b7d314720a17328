/** From a binary message to a picture. */

/** @typedef {import("./types.js").Picture} Picture */

const INPUT_BYTES = 784;
const MARK_BYTES = 4;

/**
 * Whether a message is a finished recording rather than a picture.
 * @param {ArrayBuffer} data
 */
export function isGif(data) {
  return new TextDecoder().decode(new Uint8Array(data, 0, 4)) === "GIF8";
}

/**
 * Length of the header, header (JSON), input, W, F, G, static W, marks of both models.
 * @param {ArrayBuffer} data
 * @param {number} mapSize pixels of a map
 * @returns {Picture}
 */
export function unpack(data, mapSize) {
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  /** @param {number} n */
  const take = (n) => {
    const part = new Uint8Array(data, at, n);
    at += n;
    return part;
  };
  const input = take(INPUT_BYTES);
  const size = head.n_maps * mapSize;
  const maps = { W: take(size), F: take(size), G: take(size), static: take(size) };
  const marks = head.n_marks.map((/** @type {number} */ n) => take(n * MARK_BYTES));
  return { head, input, maps, marks };
}
