// Draws what is under and over the notes of a piano roll: rows, beats, the waveform, sung bends, the playing position.
import {noteName} from './melody.js';

export const kKeys_px = 36;   // the strip with the names of the rows
export const kWave_px = 44;   // the strip with the waveform, below the rows
const kBlackKeys = [1, 3, 6, 8, 10];

// Makes the canvas fit its box at the screen's resolution, and clears it. Returns its context, in CSS pixels.
function cleared(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export function colours(root) {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    card: of('card'), row: of('row-dark'), line: of('line'), strong: of('control-line'), ink: of('ink-soft'),
    accent: of('accent'), onNote: of('on-note'), wave: of('wave'), font: `11px ${style.fontFamily}`,
  };
}

// view: {width, height, rowHeight, lowest, highest, zoom (pixels per second), scroll (pixels)}. Only what is in view is drawn.
export class RollPicture {
  constructor(under, over) {
    this.under = under;
    this.over = over;
  }

  drawUnder(view, {peaks, peaksPerSecond, beat_s, firstBeat_s}, paint) {
    const draw = cleared(this.under, view.width, view.height);
    const rowsHeight = (view.highest - view.lowest + 1) * view.rowHeight;
    for (let pitch = view.lowest; pitch <= view.highest; ++pitch) {
      const y = (view.highest - pitch) * view.rowHeight;
      draw.fillStyle = paint.row;
      if (kBlackKeys.includes(pitch % 12)) draw.fillRect(0, y, view.width, view.rowHeight);
      draw.fillStyle = paint.line;
      if (pitch % 12 === 0) draw.fillRect(0, y + view.rowHeight - 1, view.width, 1);
    }
    this.#drawTimes(draw, view, rowsHeight, beat_s, firstBeat_s, paint);
    if (peaks) this.#drawWave(draw, view, rowsHeight, peaks, peaksPerSecond, paint);
  }

  #drawTimes(draw, view, rowsHeight, beat_s, firstBeat_s, paint) {
    const from_s = view.scroll / view.zoom;
    const to_s = (view.scroll + view.width) / view.zoom;
    draw.fillStyle = paint.line;
    if (beat_s * view.zoom > 8) {
      for (let n = Math.ceil((from_s - firstBeat_s) / beat_s); firstBeat_s + n * beat_s < to_s; ++n) {
        draw.fillRect(Math.round(this.#x(view, firstBeat_s + n * beat_s)), 0, 1, rowsHeight);
      }
    }
    draw.font = paint.font;
    const step_s = view.zoom < 30 ? 5 : 1;
    for (let s = Math.ceil(from_s / step_s) * step_s; s < to_s; s += step_s) {
      const x = Math.round(this.#x(view, s));
      draw.fillStyle = paint.strong;
      draw.fillRect(x, rowsHeight, 1, 5);
      draw.fillStyle = paint.ink;
      draw.fillText(`${s} s`, x + 4, view.height - 3);
    }
  }

  #drawWave(draw, view, top, peaks, perSecond, paint) {
    draw.fillStyle = paint.wave;
    const middle = top + (kWave_px - 12) / 2 + 2;
    for (let x = kKeys_px; x < view.width; x += 2) {
      const at = Math.floor((view.scroll + x - kKeys_px) / view.zoom * perSecond);
      const size = Math.max(0.5, (peaks[at] ?? 0) * (kWave_px - 14) / 2);
      draw.fillRect(x, middle - size, 1.5, size * 2);
    }
  }

  drawOver(view, {notes, preview, position_s}, paint) {
    const draw = cleared(this.over, view.width, view.height);
    for (const note of notes) this.#drawBends(draw, view, note, paint);
    for (const note of preview ?? []) this.#drawOutline(draw, view, note, paint);
    if (position_s !== null) {
      draw.fillStyle = paint.accent;
      draw.fillRect(this.#x(view, position_s) - 1, 0, 2, view.height);
    }
    this.#drawNames(draw, view, notes, paint);
  }

  #drawBends(draw, view, note, paint) {
    if ((note.bends?.length ?? 0) < 2 || !this.#isInView(view, note)) return;
    const middle = this.#y(view, note.pitch) + view.rowHeight / 2;
    const step = (note.end - note.start) / (note.bends.length - 1);
    draw.strokeStyle = paint.onNote;
    draw.lineWidth = 1.2;
    draw.beginPath();
    note.bends.forEach((bend, i) => {
      draw.lineTo(this.#x(view, note.start + i * step), middle - bend / 3 * view.rowHeight);
    });
    draw.stroke();
  }

  #drawOutline(draw, view, note, paint) {
    if (!this.#isInView(view, note)) return;
    draw.strokeStyle = paint.ink;
    draw.lineWidth = 1.5;
    draw.setLineDash([4, 3]);
    draw.strokeRect(this.#x(view, note.start), this.#y(view, note.pitch) + 1, (note.end - note.start) * view.zoom,
                    view.rowHeight - 2);
    draw.setLineDash([]);
  }

  #drawNames(draw, view, notes, paint) {
    draw.fillStyle = paint.card;
    draw.fillRect(0, 0, kKeys_px - 2, view.height);
    draw.fillStyle = paint.ink;
    draw.font = paint.font;
    const sung = new Set(notes.map((note) => note.pitch));
    let free = -Infinity;
    for (let pitch = view.highest; pitch >= view.lowest; --pitch) {
      const y = this.#y(view, pitch) + view.rowHeight / 2 + 4;
      if ((pitch % 12 !== 0 && !sung.has(pitch)) || y < free) continue;
      draw.fillText(noteName(pitch), 4, y);
      free = y + 11;
    }
  }

  #isInView(view, note) {
    return this.#x(view, note.end) > 0 && this.#x(view, note.start) < view.width;
  }

  #x(view, time_s) {
    return kKeys_px + time_s * view.zoom - view.scroll;
  }

  #y(view, pitch) {
    return (view.highest - pitch) * view.rowHeight;
  }
}
