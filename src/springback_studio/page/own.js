/** The page of one's own stream: what the browser records goes to the local server, and both answers are drawn. */

import { startTheme } from "./colours.js";
import { notice } from "./notices.js";
import { Camera } from "./own_camera.js";
import { Microphone } from "./own_microphone.js";
import { addedByMemory, drawChannels, drawNovelty, drawShares, drawSound, drawSprings, N_COLUMNS } from "./own_strips.js";
import { Lessons } from "./own_things.js";

/** @typedef {import("./own_strips.js").Column} Column */

const FRAME_MS = 100;
const ON_THE_WAY_MAX = 4;
const TITLES = { camera: "Camera", microphone: "Microphone", source: "Your stream" };

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const canvas = (id) => /** @type {HTMLCanvasElement} */ (document.getElementById(id));
/** @param {string} id */
const range = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id));

/** @type {any} What the server said first. */
let hello = null;
/** @type {"camera" | "microphone" | "source"} */
let kind = "camera";
/** @type {any} What the server asks the browser for, once it has opened something. */
let opened = null;
/** @type {Camera | Microphone | null} */
let device = null;
/** @type {string[]} */
let names = [];
/** @type {Column[]} */
let columns = [];
/** @type {[number, number][] | null} */
let memory = [];
/** @type {{shown: any, bytes: Uint8Array} | null} */
let frame = null;
let onTheWay = 0;
let sending = 0;
let answered = 0;
let playing = true;
let farewell = "";
/** @type {number[]} */
let moments = [];

const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/own`);
socket.binaryType = "arraybuffer";
const lessons = new Lessons(element("things"), ask, () => device !== null);
startTheme(/** @type {HTMLButtonElement} */ (element("theme")), () => draw());

/**
 * @param {string} what
 * @param {Record<string, unknown>} [values]
 */
function ask(what, values = {}) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ ask: what, ...values }));
}

socket.addEventListener("message", ({ data }) => {
  if (typeof data === "string") hear(JSON.parse(data));
  else watch(data);
});
socket.addEventListener("close", () => {
  stop();
  element("busy").hidden = true;
  element("grid").inert = true;
  notice(farewell || "The connection to the studio was lost. Start the studio again, then reload this page.", false);
});

/** @param {any} said */
function hear(said) {
  if (said.say === "hello") greet(said);
  if (said.say === "busy") {
    element("busy").hidden = false;
    element("busy-text").textContent = said.text;
  }
  if (said.say === "opened") begin(said);
  if (said.say === "failed") fail(said.title, said.why);
  if (said.say === "refused") {
    onTheWay = 0;
    notice(said.why);
  }
  if (said.say === "closed") farewell = said.why;
  if (said.say === "things") tellThings(said);
  if (said.say === "answer") take(said);
}

/** @param {any} said */
function greet(said) {
  hello = said;
  element("page-source").hidden = !said.source;
  Object.assign(range("memory"), { min: said.memory_bounds[0], max: said.memory_bounds[1] });
  Object.assign(range("speed"), { min: said.speed_bounds[0], max: said.speed_bounds[1] });
  choose();
}

/** Open what the address names. */
function choose() {
  if (!hello) return;
  const wanted = location.hash.slice(1);
  const usual = hello.source ? "source" : "camera";
  kind = /** @type {any} */ (["camera", "microphone", "source"].includes(wanted) ? wanted : usual);
  if (kind === "source" && !hello.source) kind = "camera";
  stop();
  columns = [];
  names = [];
  memory = [];
  frame = null;
  opened = null;
  element("failure").hidden = true;
  for (const one of ["camera", "microphone", "source"]) {
    if (one === kind) element(`page-${one}`).setAttribute("aria-current", "page");
    else element(`page-${one}`).removeAttribute("aria-current");
  }
  element("h-see").textContent = TITLES[kind];
  element("start").hidden = kind === "source";
  element("transport").hidden = kind !== "source";
  element("card-teach").hidden = true;
  element("caption").textContent = kind === "source"
    ? `${hello.source}, followed by ${hello.model}.`
    : `${kind === "camera" ? "Pictures go" : "Sound goes"} only to the studio at ${location.host}; nothing is stored.`;
  tellStart();
  draw();
  ask("open", { kind });
}

/** @param {any} said */
function begin(said) {
  element("busy").hidden = true;
  element("failure").hidden = true;
  if (said.kind !== kind) return;
  opened = said;
  names = said.names;
  columns = [];
  element("card-teach").hidden = !said.things;
  lessons.sounds = kind === "microphone";
  element("says").textContent = said.model
    ? `${said.model}: with its memory, and without.`
    : kind === "camera" ? "Teach it things, then hide them: one model remembers, the other does not."
    : "Teach it sounds, then talk over them: one model remembers, the other does not.";
  element("add").textContent = kind === "camera" ? "+ Thing" : "+ Sound";
  if (said.things) tellThings(said);
  tellStart();
  draw();
}

/** @param {any} said */
function tellThings(said) {
  names = said.names;
  if (!said.things) return;
  lessons.tell(said.names, said.things, hello.name_max);
  element("lesson").textContent = device ? lessons.lesson : `Start the ${kind} first.`;
  /** @type {HTMLButtonElement} */ (element("add")).disabled = said.names.length >= hello.things_max;
  if (said.memory_frames && document.activeElement !== range("memory")) range("memory").value = said.memory_frames;
  element("memory-out").textContent = `${Number(range("memory").value).toFixed(1)} frames`;
}

/**
 * The model cannot start: say why, with the command that helps.
 * @param {string} title
 * @param {string} why
 */
function fail(title, why) {
  element("busy").hidden = true;
  element("failure").hidden = false;
  element("failure-title").textContent = `This cannot start: ${title}`;
  element("failure-why").textContent = why;
}

function tellStart() {
  element("start").textContent = device ? "Stop" : `Start the ${kind}`;
  element("start").classList.toggle("primary", !device);
  /** @type {HTMLButtonElement} */ (element("start")).disabled = !opened;
  element("lesson").textContent = device ? lessons.lesson : `Start the ${kind} first.`;
}

/** Why a browser does not give its camera or microphone, in words. @param {any} error */
function refusal(error) {
  if (!navigator.mediaDevices) {
    return `Browsers give the ${kind} only to pages of this machine or over https. Open the studio as http://localhost on the machine that has the ${kind}.`;
  }
  if (error.name === "NotAllowedError") return `The browser was not allowed to use the ${kind}. Allow it next to the address, then press Start again.`;
  if (error.name === "NotFoundError") return `No ${kind} was found on this machine.`;
  if (error.name === "NotReadableError") return `The ${kind} is used by another program.`;
  return `The ${kind} could not be started: ${error.message}`;
}

async function start() {
  if (!opened || kind === "source") return;
  const wanted = kind;
  try {
    const found = wanted === "camera" ? await Camera.open(opened.asks_for) : await Microphone.open(opened.asks_for, send);
    if (wanted !== kind || device) {
      found.close();
      return;
    }
    device = found;
  } catch (error) {
    notice(refusal(error), false);
    return;
  }
  element("notice").hidden = true;
  onTheWay = 0;
  ask("restart");
  if (device instanceof Camera) sending = window.setInterval(() => device instanceof Camera && send(device.picture()), FRAME_MS);
  tellStart();
  requestAnimationFrame(show);
}

function stop() {
  window.clearInterval(sending);
  device?.close();
  device = null;
  if (lessons.teaching >= 0) lessons.end();
}

/**
 * Send a frame, unless the server is still busy with those before.
 * @param {Uint8Array | Int16Array | null} data
 */
function send(data) {
  if (!data || !device || onTheWay >= (kind === "camera" ? 1 : ON_THE_WAY_MAX) || socket.readyState !== WebSocket.OPEN) return;
  onTheWay += 1;
  socket.send(data);
}

/** Show the picture or the sound of this moment. */
function show() {
  if (!device) return;
  if (device instanceof Camera) device.show(canvas("screen"));
  else {
    const microphone = device;
    drawSound(canvas("screen"), 256, (i) => microphone.outline(i, 256));
  }
  requestAnimationFrame(show);
}

/** The answer to a frame of this browser. @param {any} said */
function take(said) {
  onTheWay = Math.max(onTheWay - 1, 0);
  answered += 1;
  if (said.things) tellThings({ names, things: said.things });
  remember(said);
  element("meter").textContent = `${rate()} frames/s · ${said.compute_ms.toFixed(1)} ms to compute both answers`;
  document.body.dataset.answered = String(answered);
}

/** A piece of the source. @param {ArrayBuffer} data */
function watch(data) {
  const length = new DataView(data).getUint32(0, true);
  const said = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  ask("seen", { frame: said.number });
  if (kind !== "source") return;
  element("busy").hidden = said.state !== "starting";
  element("busy-text").textContent = "Starting the model and the source.";
  if (said.state === "failed") fail(`${hello.model} on ${hello.source}`, said.why);
  else element("failure").hidden = true;
  names = said.names;
  frame = { shown: said.shown, bytes: new Uint8Array(data, 4 + length) };
  playing = said.playing;
  element("play").textContent = playing ? "Pause" : "Play";
  element("speed-row").hidden = said.live;
  if (document.activeElement !== range("speed")) range("speed").value = said.speed;
  element("speed-out").textContent = `${range("speed").value} frames/s`;
  const ended = said.state === "ended" ? ` ${said.why}` : "";
  const bad = said.bad ? ` ${said.bad} frame${said.bad === 1 ? "" : "s"} could not be used: ${said.reason}` : "";
  const many = said.shown.kind === "rows" && said.shown.of > said.shown.values.length
    ? ` The first ${said.shown.values.length} of ${said.shown.of} numbers are shown.` : "";
  element("caption").textContent = `${hello.source}, followed by ${hello.model}.${many}${ended}${bad}`;
  remember(said);
  element("meter").textContent = `Frame ${said.frames}`;
  document.body.dataset.answered = String(said.frames);
}

/** @param {any} said */
function remember(said) {
  const last = columns[columns.length - 1];
  if (last && said.columns.length && said.columns[0].frame <= last.frame) columns = [];
  if (said.frames === 0) columns = [];
  columns.push(...said.columns);
  columns = columns.slice(-N_COLUMNS);
  memory = said.memory;
  if (said.columns.length) moments = [...moments, performance.now()].slice(-20);
  words(said);
  requestAnimationFrame(draw);
}

function rate() {
  return moments.length > 1 ? ((1000 * (moments.length - 1)) / (moments[moments.length - 1] - moments[0])).toFixed(0) : "–";
}

/** @param {any} said */
function words(said) {
  const last = columns[columns.length - 1];
  for (const which of [0, 1]) {
    const best = last?.shares[which][0];
    element(`answer-${which}`).textContent = best ? names[best[0]] ?? String(best[0]) : "–";
    element(`sure-${which}`).textContent = best ? `${(100 * best[1]).toFixed(0)} %` : "\u00a0";
    const changes = said.changes[which];
    element(`changes-${which}`).textContent = last ? `changed its mind ${changes} ${changes === 1 ? "time" : "times"}` : "\u00a0";
    element(`correct-${which}`).hidden = !said.labelled;
    if (said.labelled) {
      element(`correct-${which}`).textContent = `${((100 * said.correct[which]) / said.labelled).toFixed(1)} % of ${said.labelled} frames correct`;
    }
  }
}

function draw() {
  for (const which of [0, 1]) drawShares(canvas(`strip-${which}`), columns, names, which);
  const last = columns[columns.length - 1];
  element("springs-title").textContent = memory || !last ? "What is remembered of each class" : "What memory adds to each class";
  drawSprings(canvas("springs"), memory ?? addedByMemory(last), columns, names);
  for (const one of ["novelty-title", "novelty"]) element(one).hidden = last !== undefined && last.novelty === null;
  drawNovelty(canvas("novelty"), columns);
  if (kind === "source") drawFrame();
  else if (!device) {
    const screen = canvas("screen");
    /** @type {CanvasRenderingContext2D} */ (screen.getContext("2d")).clearRect(0, 0, screen.width, screen.height);
  }
}

/** The newest frame of the source. */
function drawFrame() {
  const screen = canvas("screen");
  if (!frame || frame.shown.kind === "nothing") return;
  const { shown, bytes } = frame;
  if (shown.kind === "rows") drawChannels(screen, columns);
  else if (shown.kind === "sound") {
    const pairs = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    drawSound(screen, shown.pairs, (i) => [pairs[2 * i] / 127, pairs[2 * i + 1] / 127]);
  } else {
    const image = new ImageData(shown.width, shown.height);
    for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
      image.data.set([bytes[from], bytes[from + 1], bytes[from + 2], 255], to);
    }
    screen.width = shown.width;
    screen.height = shown.height;
    /** @type {CanvasRenderingContext2D} */ (screen.getContext("2d")).putImageData(image, 0, 0);
  }
}

element("start").addEventListener("click", () => {
  if (device) {
    stop();
    tellStart();
  } else start();
});
element("add").addEventListener("click", () => ask("add"));
element("failure-again").addEventListener("click", () => (kind === "source" ? ask("restart") : ask("open", { kind })));
element("play").addEventListener("click", () => ask(playing ? "pause" : "play"));
element("step").addEventListener("click", () => ask("step"));
element("again").addEventListener("click", () => ask("restart"));
range("speed").addEventListener("input", () => ask("speed", { speed: Number(range("speed").value) }));
range("memory").addEventListener("input", () => {
  element("memory-out").textContent = `${Number(range("memory").value).toFixed(1)} frames`;
  ask("memory", { frames: Number(range("memory").value) });
});
addEventListener("hashchange", choose);
document.addEventListener("keydown", (event) => {
  const focus = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || focus.closest("input, select, button, a")) return;
  if (/^[1-9]$/.test(event.key) && opened?.things) lessons.begin(Number(event.key) - 1);
  else if (kind === "source" && event.key === " ") ask(playing ? "pause" : "play");
  else if (kind === "source" && event.key === "ArrowRight") ask("step");
  else if (event.key === "r") ask("restart");
  else return;
  event.preventDefault();
});
document.addEventListener("keyup", (event) => /^[1-9]$/.test(event.key) && lessons.release());
document.addEventListener("visibilitychange", () => {
  if (document.hidden && device) {
    stop();
    tellStart();
  }
});
new ResizeObserver(draw).observe(document.body);
