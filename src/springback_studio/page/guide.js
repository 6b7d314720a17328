/** A ten-second tour for first-time visitors. */

const STEPS = [
  ["card-input", "A digit slides under a curtain. Both models see only the visible part, and then a burst of noise."],
  ["card-adapting", "Here, synapses stretch towards what they see and spring back: the model still knows what is hidden."],
  ["card-static", "Without stretching, the same model forgets. Now pick or draw a digit, hide it, and add noise."],
];
const MS_PER_STEP = 3400;
const SEEN = "studio-guide-seen";

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Guide {
  constructor() {
    this.step = -1;
    this.timer = 0;
    element("guide-next").addEventListener("click", () => this.next());
    element("guide-close").addEventListener("click", () => this.close());
  }

  startOnce() {
    if (!localStorage.getItem(SEEN)) this.start();
  }

  start() {
    this.step = -1;
    element("guide").hidden = false;
    this.next();
  }

  get open() {
    return !element("guide").hidden;
  }

  next() {
    window.clearTimeout(this.timer);
    this.step += 1;
    if (this.step >= STEPS.length) {
      this.close();
      return;
    }
    for (const [id] of STEPS) element(id).classList.remove("lit");
    const [id, text] = STEPS[this.step];
    element(id).classList.add("lit");
    element("guide-step").textContent = `${this.step + 1} of ${STEPS.length}.`;
    element("guide-text").textContent = text;
    element("guide-bar").style.width = `${(100 * (this.step + 1)) / STEPS.length}%`;
    element("guide-next").textContent = this.step === STEPS.length - 1 ? "Start" : "Next";
    this.timer = window.setTimeout(() => this.next(), MS_PER_STEP);
  }

  close() {
    window.clearTimeout(this.timer);
    localStorage.setItem(SEEN, "yes");
    element("guide").hidden = true;
    for (const [id] of STEPS) element(id).classList.remove("lit");
  }
}
