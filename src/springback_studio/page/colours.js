/** The colours of the present theme, as numbers that canvases can use; and the switch between themes. */

/** @typedef {[number, number, number]} Rgb */

const NAMES = ["paper", "card", "ink", "faint", "line", "well", "adapting", "static", "seen"];

/** @type {Record<string, Rgb>} */
export const colours = {};

/**
 * @param {Rgb} rgb
 * @param {number} [alpha]
 */
export function css(rgb, alpha = 1) {
  return `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]} / ${alpha})`;
}

/**
 * Between two colours.
 * @param {Rgb} from
 * @param {Rgb} to
 * @param {number} share
 * @returns {Rgb}
 */
function blend(from, to, share) {
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share, from[2] + (to[2] - from[2]) * share];
}

/** @type {Map<string, Uint32Array>} */
const ramps = new Map();

/**
 * 256 colours, as 0xAABBGGRR, from the paper to an ink that is mixed of two: `tint` in 16ths of `to`.
 * @param {string} from
 * @param {string} to
 * @param {number} tint
 */
export function ramp(from, to = from, tint = 0) {
  const key = `${from} ${to} ${tint}`;
  let kept = ramps.get(key);
  if (!kept) {
    const ink = blend(colours[from], colours[to], tint / 16);
    kept = Uint32Array.from({ length: 256 }, (_, i) => {
      const [red, green, blue] = blend(colours.well, ink, i / 255).map(Math.round);
      return (255 << 24) | (blue << 16) | (green << 8) | red;
    });
    ramps.set(key, kept);
  }
  return kept;
}

function readColours() {
  ramps.clear();
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) {
    const hex = style.getPropertyValue(`--${name}`).trim();
    colours[name] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  }
}

/**
 * Take the visitor's theme, or the system's, and follow changes.
 * @param {HTMLButtonElement} button
 * @param {() => void} changed
 */
export function startTheme(button, changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem("studio-theme");
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    readColours();
    changed();
  };
  button.addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme === "dark";
    localStorage.setItem("studio-theme", dark ? "light" : "dark");
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
