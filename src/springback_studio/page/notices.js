/** Sentences at the top of the page. */

let timer = 0;

/**
 * Say something to the visitor; it goes away after a while if it is passing.
 * @param {string} text
 * @param {boolean} [passing]
 */
export function notice(text, passing = true) {
  const place = /** @type {HTMLElement} */ (document.getElementById("notice"));
  window.clearTimeout(timer);
  place.textContent = text;
  place.hidden = false;
  if (passing) timer = window.setTimeout(() => (place.hidden = true), 6000);
}
