/** Runs in the thread of the sound: turns samples into another rate, each new one the mean of those that it covers. */

class Recorder extends AudioWorkletProcessor {
  /** @param {{processorOptions: {rate_hz: number, hop: number}}} options */
  constructor({ processorOptions: { rate_hz, hop } }) {
    super();
    this.ratio = sampleRate / rate_hz;
    this.made = new Int16Array(hop);
    this.count = 0;
    this.sum = 0;
    this.covered = 0;
  }

  /** @param {number} value */
  push(value) {
    this.made[this.count++] = Math.max(-32768, Math.min(32767, Math.round(32767 * value)));
    if (this.count === this.made.length) {
      this.port.postMessage(this.made.slice());
      this.count = 0;
    }
  }

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    for (const sample of inputs[0]?.[0] ?? []) {
      let left = 1;
      while (this.covered + left >= this.ratio) {
        const part = this.ratio - this.covered;
        this.push((this.sum + part * sample) / this.ratio);
        left -= part;
        this.sum = 0;
        this.covered = 0;
      }
      this.sum += left * sample;
      this.covered += left;
    }
    return true;
  }
}

registerProcessor("recorder", Recorder);
