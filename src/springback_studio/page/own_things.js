/** The things that can be taught: hold a button while showing one. */

const LEAST_FRAMES = 8;

export class Lessons {
  /**
   * @param {HTMLElement} home
   * @param {(what: string, values?: Record<string, unknown>) => void} ask
   * @param {() => boolean} ready whether frames are being sent
   */
  constructor(home, ask, ready) {
    this.home = home;
    this.ask = ask;
    this.ready = ready;
    /** @type {string[]} */
    this.names = [];
    /** @type {number[]} */
    this.shown = [];
    /** Which thing is being taught, and until how many frames at least. */
    this.teaching = -1;
    this.held = false;
    this.until = 0;
    this.sounds = false;
  }

  /**
   * What the server says about the things; rows are made again only if their number has changed.
   * @param {string[]} names
   * @param {number[]} shown
   * @param {number} name_max
   */
  tell(names, shown, name_max) {
    const other = names.length !== this.home.children.length;
    this.names = names;
    this.shown = shown;
    if (other) this.home.replaceChildren(...names.map((_, thing) => this.row(thing, name_max)));
    [...this.home.children].forEach((row, thing) => {
      const name = /** @type {HTMLInputElement} */ (row.querySelector("input"));
      if (document.activeElement !== name) name.value = names[thing];
      const hold = /** @type {HTMLElement} */ (row.querySelector(".hold"));
      const frames = shown[thing];
      hold.textContent = frames ? `Hold for more (${frames})` : "Hold to teach";
      hold.setAttribute("aria-label", `Hold to teach ${names[thing]}; ${frames} frames so far`);
      hold.classList.toggle("on", this.teaching === thing);
      row.classList.toggle("known", frames > 0);
      /** @type {HTMLButtonElement} */ (row.querySelector(".forget")).disabled = !frames;
    });
    if (this.teaching >= 0 && !this.held && shown[this.teaching] >= this.until) this.end();
  }

  /**
   * @param {number} thing
   * @param {number} name_max
   */
  row(thing, name_max) {
    const row = document.createElement("div");
    row.className = "thing";
    const name = document.createElement("input");
    name.maxLength = name_max;
    name.setAttribute("aria-label", `Name of thing ${thing + 1}`);
    name.title = "Give it a name.";
    name.addEventListener("change", () => name.value.trim() && this.ask("name", { thing, name: name.value }));
    const hold = document.createElement("button");
    hold.type = "button";
    hold.className = "hold";
    hold.title = `Hold while it is there (key: ${thing + 1}).`;
    hold.addEventListener("pointerdown", (event) => {
      hold.setPointerCapture(event.pointerId);
      this.begin(thing);
    });
    for (const end of ["pointerup", "pointercancel", "blur"]) hold.addEventListener(end, () => this.release());
    hold.addEventListener("contextmenu", (event) => event.preventDefault());
    hold.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      if (!event.repeat) this.begin(thing);
    });
    hold.addEventListener("keyup", () => this.release());
    const forget = document.createElement("button");
    forget.type = "button";
    forget.className = "forget";
    forget.textContent = "×";
    forget.title = "Forget it.";
    forget.setAttribute("aria-label", `Forget thing ${thing + 1}`);
    forget.addEventListener("click", () => this.ask("forget", { thing }));
    row.append(name, hold, forget);
    return row;
  }

  /** @param {number} thing */
  begin(thing) {
    if (!this.ready() || thing >= this.names.length) return;
    this.teaching = thing;
    this.held = true;
    this.until = (this.shown[thing] ?? 0) + LEAST_FRAMES;
    this.ask("teach", { thing });
  }

  /** A short press still teaches a few frames. */
  release() {
    if (!this.held) return;
    this.held = false;
    if (this.shown[this.teaching] >= this.until) this.end();
  }

  end() {
    this.teaching = -1;
    this.held = false;
    this.ask("taught");
  }

  /** What to do next, in one sentence. */
  get lesson() {
    const known = this.shown.filter((n) => n > 0).length;
    if (this.sounds) {
      if (this.teaching >= 0) return `Learning “${this.names[this.teaching]}”. Go on.`;
      if (known === 0) return "Hold a button for two seconds while it sounds; silence is a sound, too.";
      if (known === 1) return "Now make another sound, and hold another button.";
      return "Make one of these sounds. Then let something else disturb it, and compare both answers.";
    }
    if (this.teaching >= 0) return `Learning “${this.names[this.teaching]}”. Move it a little.`;
    if (known === 0) return "Show something, and hold its button for two seconds; the empty background is a thing, too.";
    if (known === 1) return "Now show something else, and hold another button.";
    return "Show one of them. Then cover half of it, shake it, or turn it, and compare both answers.";
  }
}
