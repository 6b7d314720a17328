/** The page: it says what the visitor does, and draws what the server answers. */

import { colours, startTheme } from "./colours.js";
import { download, pageAsPng } from "./exporting.js";
import { Guide } from "./guide.js";
import { notice } from "./notices.js";
import { Pad } from "./pad.js";
import { PathPanel } from "./path.js";
import { drawCurtain, drawDigit, drawMaps, drawWinner } from "./pictures.js";
import { isGif, unpack } from "./protocol.js";
import { buildSliders, setSliders } from "./sliders.js";
import { drawBars, drawPosterior, drawRaster, N_COLUMNS } from "./strips.js";

/** @typedef {import("./types.js").Stage} Stage */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Model} Model */

const NOISE = 10;
const MOVED_MS = 500;
const TONES = ["adapting", "static"];
const MAP_SAYS = {
  W: "W: where the synapses rest. Darker is stronger; the number is the class.",
  F: "F: how far they are stretched now; empty once they have sprung back.",
  G: "G = W + F: what they do now. Ink rests, colour is stretched.",
};

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const canvas = (id) => /** @type {HTMLCanvasElement} */ (document.getElementById(id));
/** @param {string} id */
const range = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id));

/** @type {Model[]} */
let models = [];
/** @type {Stage | null} */
let stage = null;
/** @type {Picture | null} */
let picture = null;
/** @type {Uint8Array | null} */
let digits = null;
/** @type {import("./strips.js").Column[][]} */
let columns = [[], []];
/** @type {"W" | "F" | "G"} */
let mapKind = "G";
let playing = true;
let recording = false;
let pausedByHiding = false;
let due = false;
/** When the visitor last moved something: answers to earlier moves must not move it back. */
let moved = -MOVED_MS;
/** @type {number[]} */
let moments = [];
/** @type {Pad | null} */
let pad = null;

const guide = new Guide();
const path = new PathPanel(canvas("path"));
startTheme(/** @type {HTMLButtonElement} */ (element("theme")), () => {
  pad?.repaint();
  redraw();
});
pad = new Pad(canvas("pad"), (bytes) => socket.readyState === WebSocket.OPEN && socket.send(bytes));
const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
socket.binaryType = "arraybuffer";

/**
 * @param {string} what
 * @param {Record<string, unknown>} [values]
 */
function ask(what, values = {}) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ ask: what, ...values }));
}

socket.addEventListener("message", ({ data }) => {
  if (typeof data === "string") hear(JSON.parse(data));
  else if (isGif(data)) download(new Blob([data], { type: "image/gif" }), "springback.gif");
  else if (stage) {
    picture = unpack(data, stage.map_shape[0] * stage.map_shape[1]);
    remember(picture);
    due = true;
    requestAnimationFrame(draw);
  }
});
/** Why the server ends the connection, if it said so. */
let farewell = "";
socket.addEventListener("close", () => {
  element("busy").hidden = true;
  element("failure").hidden = true;
  notice(farewell || "The connection to the studio was lost. Start the studio again, then reload this page.", false);
});

/** @param {any} said */
function hear(said) {
  if (said.say === "hello") greet(said);
  if (said.say === "busy") busy(said.text);
  if (said.say === "stage") setStage(said);
  if (said.say === "playing") setPlaying(said.playing);
  if (said.say === "failed") showFailure(said);
  if (said.say === "refused") notice(said.why);
  if (said.say === "closed") farewell = said.why;
  if (said.say === "command") showCommand(said);
  if (said.say === "recording") setRecording(said.on);
  if (said.say === "recording_full") notice("The recording is full; saving it.");
}

/** @param {any} said */
function greet(said) {
  models = said.models;
  const choice = /** @type {HTMLSelectElement} */ (element("model"));
  choice.replaceChildren(
    ...models.map(({ name, title, missing }) => {
      const option = new Option(missing ? `${title} (not installed)` : title, name);
      option.title = missing;
      return option;
    }),
  );
  range("speed").max = said.speed_max;
  element("page-source").hidden = !said.own_source;
}

/** The model that could not start last. */
let failed = "";
let busyTimer = 0;
/**
 * A progress bar with the elapsed time.
 * @param {string} text
 */
function busy(text) {
  const began = performance.now();
  element("failure").hidden = true;
  element("busy").hidden = false;
  element("busy-text").textContent = text;
  window.clearInterval(busyTimer);
  busyTimer = window.setInterval(() => {
    if (element("busy").hidden) window.clearInterval(busyTimer);
    else element("busy-text").textContent = `${text} ${Math.round((performance.now() - began) / 1000)} s so far.`;
  }, 1000);
}

/**
 * A model that cannot start: the previous model continues; if there was none, only another model can be chosen.
 * @param {{model: string, title: string, why: string}} said
 */
function showFailure({ model, title, why }) {
  failed = model;
  element("busy").hidden = true;
  element("failure").hidden = false;
  element("failure-title").textContent = `This model cannot start: ${title}`;
  element("failure-why").textContent = why;
  element("failure-next").textContent = stage
    ? `The page continues with: ${titleOf(stage.view.model)}.` : "Choose another model at the top of the page.";
  element("failure-close").hidden = !stage;
  if (!stage) {
    /** @type {HTMLSelectElement} */ (element("model")).value = model;
    element("grid").inert = true;
  }
}

/** @param {string} model */
const titleOf = (model) => models.find(({ name }) => name === model)?.title ?? model;

/** @param {Stage} said */
function setStage(said) {
  const { view } = said;
  const other = !stage || stage.view.model !== view.model;
  stage = said;
  element("busy").hidden = true;
  element("grid").inert = false;
  /** @type {HTMLSelectElement} */ (element("model")).value = view.model;
  const model = models.find(({ name }) => name === view.model);
  if (model && other) {
    buildSliders(element("sliders"), model, view.settings, (name, value) => {
      moved = performance.now();
      ask("control", { name, value });
    });
  }
  if (other) {
    columns = [[], []];
    path.show(said.plane);
    element("says").textContent = said.says;
    element("explained").textContent = `plane of two principal components of the digits (${said.plane.explained} % of variance)`;
    for (const title of document.querySelectorAll(".raster-title")) {
      title.textContent = said.spikes ? "Spikes, neurons sorted by class" : "Posterior of each unit, sorted by class";
    }
    element("maps-title").textContent = said.spikes ? "Most active neurons" : "Most active units";
    setMapKind(mapKind);
    guide.startOnce();
  }
  for (const tab of document.querySelectorAll("[data-source]")) {
    tab.setAttribute("aria-checked", String(/** @type {HTMLElement} */ (tab).dataset.source === view.source));
  }
  for (const source of ["stream", "digit", "drawing"]) element(`panel-${source}`).hidden = source !== view.source;
  element("occluder-row").hidden = view.source === "stream";
  if (performance.now() - moved > MOVED_MS) {
    setSliders(element("sliders"), view.settings);
    range("occluder").value = String(view.occlude);
    range("speed").value = String(view.speed);
    tellRanges();
  }
  for (const thumb of document.querySelectorAll("#thumbs button")) {
    const mine = /** @type {HTMLElement} */ (thumb).dataset.digit === String(view.digit);
    thumb.setAttribute("aria-pressed", String(mine && view.source === "digit"));
  }
  drawThumbs();
}

function tellRanges() {
  element("speed-out").textContent = `${range("speed").value} frames/s`;
  element("occluder-out").textContent = `${range("occluder").value} of 28 rows`;
}

/** @param {boolean} now */
function setPlaying(now) {
  playing = now;
  element("play").textContent = playing ? "Pause" : "Play";
}

/** @param {Picture} one */
function remember({ head, marks }) {
  setPlaying(head.playing);
  const last = columns[0][columns[0].length - 1];
  if (last && head.frame < last.frame) {
    columns = [[], []];
    path.forget();
  }
  if (head.frame === 0 || (last && head.frame === last.frame)) return;
  columns.forEach((column, which) => {
    column.push({ frame: head.frame, posterior: head.posteriors[which], label: head.label, marks: marks[which] });
    while (column[0].frame <= head.frame - N_COLUMNS) column.shift();
  });
  moments.push(performance.now());
  moments = moments.slice(-30);
}

function draw() {
  if (!picture || !stage || !due) return;
  due = false;
  const { head } = picture;
  path.follow(head.path);
  redraw();
  drawWords();
  document.body.dataset.frame = String(head.frame);
  ask("seen", { frame: head.number });
}

function drawWords() {
  if (!picture) return;
  const { head } = picture;
  const what = head.label === null ? "a drawing" : head.label === NOISE ? "noise" : `a ${head.label}`;
  const hidden = head.rows_hidden > 0 ? `, ${head.rows_hidden} of 28 rows hidden` : "";
  const known = head.frame > 0 || head.source !== "stream";
  element("truth").textContent = known ? `Shown: ${what}${hidden}` : "Nothing shown yet";
  head.answers.forEach((answer, which) => {
    const word = element(`answer-${which}`);
    word.textContent = head.frame === 0 ? "–" : answer === NOISE ? "noise" : String(answer);
    word.classList.toggle("word", head.frame > 0 && answer === NOISE);
    const verdict = element(`verdict-${which}`);
    const judged = head.frame > 0 && head.label !== null;
    verdict.textContent = !judged ? "\u00a0" : answer === head.label ? "✓ correct" : "✗ wrong";
    verdict.classList.toggle("wrong", judged && answer !== head.label);
    element(`glance-${which}`).textContent = `${word.textContent}${judged ? (answer === head.label ? " ✓" : " ✗") : ""}`;
    const share = (100 * head.correct[which]) / head.counted;
    element(`accuracy-${which}`).textContent = head.counted
      ? `${share.toFixed(1)} % of ${head.counted} frames` : "no labelled frames yet";
  });
  const passed = moments.length > 1 ? (1000 * (moments.length - 1)) / (moments[moments.length - 1] - moments[0]) : 0;
  element("meter").textContent = `Frame ${head.frame} · ${passed.toFixed(0)} frames/s drawn · ${head.compute_ms.toFixed(1)} ms to compute both models`;
}

/** Paint every panel as things stand. */
function redraw() {
  drawThumbs();
  path.draw();
  if (!picture || !stage) return;
  const { head } = picture;
  drawDigit(canvas("input"), picture.input);
  drawCurtain(canvas("curtain"), head.rows_hidden);
  TONES.forEach((tone, which) => {
    drawPosterior(canvas(`posterior-${which}`), columns[which], tone);
    drawRaster(canvas(`raster-${which}`), columns[which], tone, /** @type {Stage} */ (stage));
    drawBars(canvas(`bars-${which}`), head.posteriors[which], head.frame ? head.label : null, tone);
  });
  drawMaps(canvas("maps-0"), picture, mapKind, stage);
  drawMaps(canvas("maps-1"), picture, "static", stage);
  if (head.path) drawWinner(canvas("winner"), picture, stage);
}

/** @param {"W" | "F" | "G"} kind */
function setMapKind(kind) {
  mapKind = kind;
  for (const tab of document.querySelectorAll("[data-map]")) {
    tab.setAttribute("aria-checked", String(/** @type {HTMLElement} */ (tab).dataset.map === kind));
  }
  element("maps-says").textContent = MAP_SAYS[kind];
  redraw();
}

let thumbsDrawn = "";
function drawThumbs() {
  if (!digits || !stage || element("panel-digit").hidden) return;
  const { digit, example } = stage.view;
  const key = `${digit} ${example} ${colours.ink}`;
  if (key === thumbsDrawn) return;
  thumbsDrawn = key;
  document.querySelectorAll("#thumbs canvas").forEach((thumb, label) => {
    const at = 784 * (10 * label + (label === digit ? example : 0));
    drawDigit(/** @type {HTMLCanvasElement} */ (thumb), /** @type {Uint8Array} */ (digits).subarray(at, at + 784));
  });
}

/** @param {number} digit */
function pick(digit) {
  if (!stage) return;
  const again = stage.view.source === "digit" && stage.view.digit === digit;
  ask("digit", { digit, example: again ? (stage.view.example + 1) % 10 : 0 });
}

/** @param {number} rows */
function occlude(rows) {
  moved = performance.now();
  range("occluder").value = String(rows);
  tellRanges();
  ask("occlude", { rows: Number(range("occluder").value) });
}

/** @param {boolean} on */
function setRecording(on) {
  recording = on;
  element("record").setAttribute("aria-pressed", String(on));
  element("record").textContent = on ? "Stop and save" : "Record GIF";
}

/** @param {{command: string, exact: boolean}} said */
function showCommand({ command, exact }) {
  element("command-text").textContent = command;
  element("command-exact").textContent = exact
    ? "This command shows exactly this frame again."
    : "This command starts with these settings; changes that were made along the way are not repeated.";
  /** @type {HTMLDialogElement} */ (element("command-box")).showModal();
  navigator.clipboard?.writeText(command).then(
    () => (element("command-exact").textContent += " Copied."),
    () => {},
  );
}

for (let digit = 0; digit < 10; digit++) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.digit = String(digit);
  button.title = `Show a ${digit} (key: ${digit}).`;
  button.setAttribute("aria-label", `Show a ${digit}`);
  const thumb = document.createElement("canvas");
  thumb.width = thumb.height = 28;
  button.append(thumb);
  button.addEventListener("click", () => pick(digit));
  element("thumbs").append(button);
}
fetch("digits")
  .then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(answer.statusText))))
  .then((bytes) => {
    digits = new Uint8Array(bytes);
    drawThumbs();
  })
  .catch(() => notice("The test digits cannot be read; reinstall springback.", false));

element("play").addEventListener("click", () => ask(playing ? "pause" : "play"));
for (const what of ["step", "noise", "restart", "command"]) element(what).addEventListener("click", () => ask(what));
element("reset").addEventListener("click", () => {
  moved = -MOVED_MS;
  ask("reset");
});
element("record").addEventListener("click", () => ask("record", { on: !recording }));
element("png").addEventListener("click", () => pageAsPng().then((blob) => download(blob, "springback.png")));
element("help").addEventListener("click", () => guide.start());
element("clear").addEventListener("click", () => pad?.clear());
element("failure-again").addEventListener("click", () => ask("model", { model: failed }));
element("failure-close").addEventListener("click", () => (element("failure").hidden = true));
element("model").addEventListener("change", (event) => ask("model", { model: /** @type {HTMLSelectElement} */ (event.target).value }));
range("speed").addEventListener("input", () => {
  moved = performance.now();
  tellRanges();
  ask("speed", { speed: Number(range("speed").value) });
});
range("occluder").addEventListener("input", () => occlude(Number(range("occluder").value)));
for (const tab of document.querySelectorAll("[data-source]")) {
  tab.addEventListener("click", () => {
    const source = /** @type {HTMLElement} */ (tab).dataset.source;
    if (source === "drawing" && !stage?.view.has_drawing) pad?.clear();
    else ask("source", { source });
  });
}
for (const tab of document.querySelectorAll("[data-map]")) {
  tab.addEventListener("click", () => setMapKind(/** @type {any} */ (tab).dataset.map));
}

document.addEventListener("keydown", (event) => {
  const focus = /** @type {HTMLElement} */ (event.target);
  if (event.key === "Escape" && guide.open) guide.close();
  if (event.ctrlKey || event.metaKey || event.altKey || focus.closest("select, dialog[open]")) return;
  const onRange = focus instanceof HTMLInputElement;
  const onButton = focus.closest("button");
  if (event.key === " " && !onButton) ask(playing ? "pause" : "play");
  else if (event.key === "ArrowRight" && !onRange) ask("step");
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !onRange && stage?.view.source !== "stream") {
    occlude(Number(range("occluder").value) + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "n") ask("noise");
  else if (event.key === "r") ask("restart");
  else if (event.key === "?") guide.start();
  else if (/^[0-9]$/.test(event.key)) pick(Number(event.key));
  else return;
  event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden && playing) {
    pausedByHiding = true;
    ask("pause");
  } else if (!document.hidden && pausedByHiding) {
    pausedByHiding = false;
    ask("play");
  }
});
new ResizeObserver(redraw).observe(document.body);
