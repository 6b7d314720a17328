/** The camera of this browser, as pictures of the size that the server asks for. */

/**
 * The part of a picture that fills a shape, from its middle.
 * @param {number} wide
 * @param {number} high
 * @param {number} ratio width / height
 */
function middle(wide, high, ratio) {
  const width = Math.min(wide, high * ratio);
  const height = Math.min(high, wide / ratio);
  return { x: (wide - width) / 2, y: (high - height) / 2, width, height };
}

export class Camera {
  /**
   * Ask the visitor for the camera.
   * @param {{height: number, width: number}} size
   */
  static async open({ height, width }) {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: false,
      video: { facingMode: "environment", width: { ideal: 640 }, height: { ideal: 480 } },
    });
    const camera = new Camera(stream, width, height);
    await camera.video.play();
    return camera;
  }

  /**
   * @param {MediaStream} stream
   * @param {number} width
   * @param {number} height
   */
  constructor(stream, width, height) {
    this.stream = stream;
    this.video = document.createElement("video");
    this.video.muted = true;
    this.video.playsInline = true;
    this.video.srcObject = stream;
    this.small = new OffscreenCanvas(width, height);
    this.pen = /** @type {OffscreenCanvasRenderingContext2D} */ (this.small.getContext("2d", { willReadFrequently: true }));
  }

  /** The present picture as bytes: red, green and blue of each pixel; null if there is none yet. */
  picture() {
    const { videoWidth, videoHeight } = this.video;
    if (!videoWidth) return null;
    const { width, height } = this.small;
    const part = middle(videoWidth, videoHeight, width / height);
    this.pen.imageSmoothingQuality = "high";
    this.pen.drawImage(this.video, part.x, part.y, part.width, part.height, 0, 0, width, height);
    const { data } = this.pen.getImageData(0, 0, width, height);
    const bytes = new Uint8Array(3 * width * height);
    for (let from = 0, to = 0; from < data.length; from += 4, to += 3) {
      bytes[to] = data[from];
      bytes[to + 1] = data[from + 1];
      bytes[to + 2] = data[from + 2];
    }
    return bytes;
  }

  /**
   * Show the present picture as the models see it, not as in a mirror.
   * @param {HTMLCanvasElement} canvas
   */
  show(canvas) {
    const { videoWidth, videoHeight } = this.video;
    if (!videoWidth) return;
    const part = middle(videoWidth, videoHeight, 4 / 3);
    canvas.width = 640;
    canvas.height = 480;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.drawImage(this.video, part.x, part.y, part.width, part.height, 0, 0, 640, 480);
  }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.video.srcObject = null;
  }
}
