// A simple instrument in the page: it plays notes at once, so that a person hears what was found before any model plays.
import {pitchToHz} from './melody.js';

const kAttack_s = 0.012, kRelease_s = 0.06;
const kCentsPerBend = 100 / 3;  // bends are thirds of a semitone

// Bends over the note, as cents.
function bendNote(parameter, note, at_s) {
  const length_s = note.end - note.start;
  if ((note.bends?.length ?? 0) < 2) return;
  parameter.setValueCurveAtTime(Float32Array.from(note.bends, (bend) => bend * kCentsPerBend), at_s, length_s);
}

// Plays one note at the context's time at_s.
export function playNote(context, destination, note, at_s) {
  const end_s = at_s + note.end - note.start;
  const level = 0.08 + 0.22 * (note.amplitude ?? 0.8);
  const envelope = new GainNode(context, {gain: 0});
  envelope.gain.setValueAtTime(0, at_s);
  envelope.gain.linearRampToValueAtTime(level, at_s + kAttack_s);
  envelope.gain.setTargetAtTime(level * 0.7, at_s + kAttack_s, 0.15);
  envelope.gain.setTargetAtTime(0, end_s, kRelease_s / 3);
  envelope.connect(destination);
  for (const [type, ratio, share] of [['triangle', 1, 1], ['sine', 2, 0.25]]) {
    const oscillator = new OscillatorNode(context, {type, frequency: pitchToHz(note.pitch) * ratio});
    const part = new GainNode(context, {gain: share});
    bendNote(oscillator.detune, note, at_s);
    oscillator.connect(part).connect(envelope);
    oscillator.start(at_s);
    oscillator.stop(end_s + kRelease_s * 2);
  }
}

// All notes as a sound. Browsers render far faster than it plays.
export function renderNotes(notes, rate_hz) {
  const end_s = notes.reduce((end, note) => Math.max(end, note.end), 0);
  const context = new OfflineAudioContext(1, Math.ceil((end_s + 0.3) * rate_hz), rate_hz);
  for (const note of notes) playNote(context, context.destination, note, note.start);
  return context.startRendering();
}
