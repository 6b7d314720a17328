/**
 * The shapes of what the server says. Nothing runs here.
 *
 * @typedef {{name: string, title: string, symbol: string, unit: string, low: number, high: number, step: number,
 *   default: number, says: string}} Control
 * @typedef {{name: string, title: string, missing: string, controls: Control[], absent: Record<string, string>}} Model
 * @typedef {{model: string, source: string, digit: number, example: number, occlude: number, seed: number, speed: number,
 *   settings: Record<string, number>, has_drawing: boolean}} View
 * @typedef {{points: number[][], labels: number[], explained: number}} Plane
 * @typedef {{view: View, says: string, spikes: boolean, map_shape: [number, number], n_rows: number,
 *   bands: [number, number, number][], plane: Plane}} Stage
 * @typedef {{unit: number, label: number, rest: number[], now: number[], input: number[] | null}} Path
 * @typedef {{number: number, frame: number, label: number | null, rows_hidden: number, source: string, playing: boolean,
 *   answers: number[], posteriors: number[][], correct: number[], counted: number, units: number[], unit_labels: number[],
 *   static_units: number[], static_labels: number[], n_maps: number,
 *   levels: {W: number, F: number, G: number, static: number}, n_marks: number[], path: Path | null,
 *   compute_ms: number}} Header
 * @typedef {{head: Header, input: Uint8Array, maps: Record<"W" | "F" | "G" | "static", Uint8Array>,
 *   marks: Uint8Array[]}} Picture
 */
export {};
