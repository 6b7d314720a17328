/** The microphone of this browser, as hops of samples at the rate that the server asks for. */

const SECONDS_SHOWN = 2;

export class Microphone {
  /**
   * Ask the visitor for the microphone.
   * @param {{rate_hz: number, hop: number}} wanted
   * @param {(samples: Int16Array) => void} heard
   */
  static async open(wanted, heard) {
    const stream = await navigator.mediaDevices.getUserMedia({
      video: false,
      audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    });
    const context = new AudioContext();
    await context.audioWorklet.addModule("own_recorder.js");
    await context.resume();
    return new Microphone(stream, context, wanted, heard);
  }

  /**
   * @param {MediaStream} stream
   * @param {AudioContext} context
   * @param {{rate_hz: number, hop: number}} wanted
   * @param {(samples: Int16Array) => void} heard
   */
  constructor(stream, context, { rate_hz, hop }, heard) {
    this.stream = stream;
    this.context = context;
    this.shown = new Int16Array(SECONDS_SHOWN * rate_hz);
    const recorder = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0, processorOptions: { rate_hz, hop } });
    recorder.port.onmessage = ({ data }) => {
      this.shown.copyWithin(0, data.length);
      this.shown.set(data, this.shown.length - data.length);
      heard(data);
    };
    context.createMediaStreamSource(stream).connect(recorder);
  }

  /**
   * Lowest and highest of a part of what was heard last.
   * @param {number} i
   * @param {number} n
   * @returns {[number, number]}
   */
  outline(i, n) {
    let low = 1;
    let high = -1;
    const end = Math.floor(((i + 1) * this.shown.length) / n);
    for (let at = Math.floor((i * this.shown.length) / n); at < end; at++) {
      const value = this.shown[at] / 32768;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.context.close();
  }
}
