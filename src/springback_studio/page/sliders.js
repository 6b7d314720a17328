/** The sliders of the present model. */

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Control} Control */

/** @param {number} value */
export const shown = (value) => String(Number(value.toFixed(2)));

/**
 * Build the sliders of a model.
 * @param {HTMLElement} home
 * @param {Model} model
 * @param {Record<string, number>} settings
 * @param {(name: string, value: number) => void} moved
 */
export function buildSliders(home, model, settings, moved) {
  home.replaceChildren();
  for (const control of model.controls) home.append(slider(control, settings[control.name], moved));
  for (const [name, why] of Object.entries(model.absent)) {
    const row = document.createElement("div");
    row.className = "slider off";
    const label = document.createElement("label");
    label.textContent = name[0].toUpperCase() + name.slice(1);
    const says = document.createElement("small");
    says.textContent = `Not for ${why}.`;
    row.append(label, says);
    home.append(row);
  }
}

/**
 * Set the existing sliders without telling the server.
 * @param {HTMLElement} home
 * @param {Record<string, number>} settings
 */
export function setSliders(home, settings) {
  for (const [name, value] of Object.entries(settings)) {
    const range = /** @type {HTMLInputElement | null} */ (home.querySelector(`#control-${name}`));
    if (range && Number(range.value) !== value) {
      range.value = String(value);
      range.dispatchEvent(new Event("told"));
    }
  }
}

/**
 * @param {Control} control
 * @param {number} value
 * @param {(name: string, value: number) => void} moved
 */
function slider(control, value, moved) {
  const row = document.createElement("div");
  row.className = "slider";
  const id = `control-${control.name}`;
  const label = document.createElement("label");
  label.htmlFor = id;
  label.textContent = control.symbol ? `${control.title} ${control.symbol}` : control.title;
  const output = document.createElement("output");
  output.htmlFor.add(id);
  label.append(" ", output);
  const range = document.createElement("input");
  Object.assign(range, { type: "range", id, min: control.low, max: control.high, step: "any" });
  range.value = String(value);
  range.setAttribute("aria-describedby", `${id}-says`);
  const says = document.createElement("small");
  says.id = `${id}-says`;
  says.textContent = control.says;
  const tell = () => {
    output.textContent = `${shown(Number(range.value))} ${control.unit}`;
  };
  range.addEventListener("input", () => {
    const steps = Math.round((Number(range.value) - control.low) / control.step);
    const snapped = Number(Math.min(control.low + steps * control.step, control.high).toFixed(6));
    range.value = String(snapped);
    tell();
    moved(control.name, snapped);
  });
  range.addEventListener("told", tell);
  range.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    range.value = String(Number(range.value) + way * control.step);
    range.dispatchEvent(new Event("input"));
  });
  tell();
  row.append(label, range, says);
  return row;
}
