/** The page as a picture: cards, canvases and texts painted where they stand. */

import { colours, css } from "./colours.js";

/**
 * Give the visitor a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @returns {Promise<Blob>} */
export function pageAsPng() {
  const root = document.body;
  const origin = root.getBoundingClientRect();
  const scale = Math.min(2, 4000 / origin.height);
  const paper = document.createElement("canvas");
  paper.width = Math.round(origin.width * scale);
  paper.height = Math.round(origin.height * scale);
  const pen = /** @type {CanvasRenderingContext2D} */ (paper.getContext("2d"));
  pen.scale(scale, scale);
  pen.translate(-origin.left, -origin.top);
  pen.fillStyle = css(colours.paper);
  pen.fillRect(origin.left, origin.top, origin.width, origin.height);
  for (const card of root.querySelectorAll(".card")) {
    const box = card.getBoundingClientRect();
    pen.fillStyle = css(colours.card);
    pen.strokeStyle = css(colours.line);
    pen.beginPath();
    pen.roundRect(box.left, box.top, box.width, box.height, 14);
    pen.fill();
    pen.stroke();
  }
  pen.imageSmoothingEnabled = false;
  for (const canvas of root.querySelectorAll("canvas")) {
    const box = canvas.getBoundingClientRect();
    if (box.width) pen.drawImage(canvas, box.left, box.top, box.width, box.height);
  }
  for (const image of root.querySelectorAll("img")) {
    const box = image.getBoundingClientRect();
    pen.drawImage(image, box.left, box.top, box.width, box.height);
  }
  for (const range of root.querySelectorAll("input[type=range]")) {
    paintRange(pen, /** @type {HTMLInputElement} */ (range));
  }
  for (const mark of root.querySelectorAll(".mark")) paintMark(pen, mark);
  for (const select of root.querySelectorAll("select")) {
    const [box, style] = [select.getBoundingClientRect(), getComputedStyle(select)];
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.color;
    pen.textBaseline = "middle";
    pen.fillText(select.selectedOptions[0]?.textContent ?? "", box.left + 8, box.top + box.height / 2);
  }
  const texts = "[data-text], .field, .slider label, small, .legend span, button";
  for (const one of root.querySelectorAll(texts)) {
    if (!one.getClientRects().length || one.closest(".guide, dialog")) continue;
    if (one.tagName === "BUTTON") paintButton(pen, one);
    else paintText(pen, one);
  }
  return new Promise((resolve, reject) =>
    paper.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}

/**
 * The words of an element where the browser has put them, line by line.
 * @param {CanvasRenderingContext2D} pen
 * @param {Element} one
 */
function paintText(pen, one) {
  const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  pen.textBaseline = "middle";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest("select, button") && one.tagName !== "BUTTON") continue;
    const style = getComputedStyle(/** @type {Element} */ (node.parentElement));
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.color;
    for (const word of (node.textContent ?? "").matchAll(/\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      pen.fillText(word[0], box.left, box.top + box.height / 2);
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Element} button
 */
function paintButton(pen, button) {
  if (!button.querySelector("canvas")) {
    const box = button.getBoundingClientRect();
    pen.fillStyle = getComputedStyle(button).backgroundColor;
    pen.beginPath();
    pen.roundRect(box.left, box.top, box.width, box.height, 9);
    pen.fill();
  }
  paintText(pen, button);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {HTMLInputElement} range
 */
function paintRange(pen, range) {
  const box = range.getBoundingClientRect();
  if (!box.width) return;
  const [y, knob] = [box.top + box.height / 2, 7];
  const share = (Number(range.value) - Number(range.min)) / (Number(range.max) - Number(range.min));
  const x = box.left + knob + share * (box.width - 2 * knob);
  pen.fillStyle = css(colours.line);
  pen.fillRect(box.left, y - 3, box.width, 6);
  pen.fillStyle = css(colours.adapting);
  pen.fillRect(box.left, y - 3, x - box.left, 6);
  pen.beginPath();
  pen.arc(x, y, knob, 0, 7);
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Element} mark
 */
function paintMark(pen, mark) {
  const box = mark.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  pen.beginPath();
  if (mark.classList.contains("seen")) [[0, -6], [6, 0], [0, 6], [-6, 0]].forEach(([dx, dy]) => pen.lineTo(x + dx, y + dy));
  else pen.arc(x, y, 5, 0, 7);
  if (mark.classList.contains("rest")) {
    pen.strokeStyle = css(colours.ink);
    pen.lineWidth = 2;
    pen.stroke();
  } else {
    pen.fillStyle = css(mark.classList.contains("seen") ? colours.seen : colours.adapting);
    pen.fill();
  }
}
