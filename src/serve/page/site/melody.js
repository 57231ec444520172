// The notes of a take while a person corrects them: changes with undo. Notes are those of the API: {start, end, pitch,
// amplitude, bends, hz, confidence}, in seconds and MIDI numbers. A list of notes never changes; each change makes a new one.

export const kShortest_s = 0.05;
const kLeastGap_s = 0.1;
const kLowest = 12, kHighest = 115;
const kNames = ['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'];

// "A4" is 440 Hz.
export const noteName = (pitch) => `${kNames[pitch % 12]}${Math.floor(pitch / 12) - 1}`;
export const pitchToHz = (pitch) => 440 * 2 ** ((pitch - 69) / 12);

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const inOrder = (notes) => [...notes].sort((one, other) => one.start - other.start || one.pitch - other.pitch);

// The note, `semitones` higher. What was sung moves with it, as in `hum generate --transpose`.
function transposed(note, semitones) {
  const pitch = clamp(note.pitch + semitones, kLowest, kHighest);
  const moved = {...note, pitch};
  if (note.hz) moved.hz = note.hz * 2 ** ((pitch - note.pitch) / 12);
  return moved;
}

// The part of a note within [start, end], with its bends.
function cut(note, start, end) {
  const last = (note.bends?.length ?? 0) - 1;
  const index = (time) => Math.round((time - note.start) / (note.end - note.start) * last);
  return {...note, start, end, bends: last < 1 ? [] : note.bends.slice(index(start), index(end) + 1)};
}

// Shortens or drops the notes that `kept` overlaps: one voice sings one note at a time.
function withRoomFor(kept, others) {
  return others.flatMap((note) => {
    if (note.end <= kept.start || note.start >= kept.end) return [note];
    const before_s = kept.start - note.start;
    const after_s = note.end - kept.end;
    if (Math.max(before_s, after_s) < kShortest_s) return [];
    return before_s >= after_s ? [cut(note, note.start, kept.start)] : [cut(note, kept.end, note.end)];
  });
}

export class Melody {
  #past = [];
  #future = [];

  // isOneVoice: notes may not overlap.
  constructor(notes, isOneVoice = true) {
    this.notes = inOrder(notes);
    this.isOneVoice = isOneVoice;
    this.first = this.notes;
  }

  get isEdited() {
    return this.notes !== this.first;
  }
  get canUndo() {
    return this.#past.length > 0;
  }
  get canRedo() {
    return this.#future.length > 0;
  }
  get end_s() {
    return this.notes.reduce((end, note) => Math.max(end, note.end), 0);
  }

  #become(notes) {
    this.#past.push(this.notes);
    this.#future = [];
    this.notes = notes;
  }

  // Puts `note` where the note `index` was (-1: a new one). Returns its index, or -1 if nothing changed.
  #put(index, note) {
    const old = this.notes[index];
    if (old && old.start === note.start && old.end === note.end && old.pitch === note.pitch) return -1;
    const others = this.notes.filter((_, i) => i !== index);
    const notes = inOrder([...(this.isOneVoice ? withRoomFor(note, others) : others), note]);
    this.#become(notes);
    return notes.indexOf(note);
  }

  // The note `index` after a change, without making it: for a drag. change: {semitones, start_s, end_s}, all differences.
  changed(index, {semitones = 0, start_s = 0, end_s = 0}) {
    const note = transposed(this.notes[index], semitones);
    const length = note.end - note.start;
    if (start_s === end_s) {
      const start = Math.max(0, note.start + start_s);
      return {...note, start, end: start + length};
    }
    const start = clamp(note.start + start_s, 0, note.end - kShortest_s);
    return {...note, start, end: Math.max(note.end + end_s, start + kShortest_s)};
  }

  // Each of these returns the index of the note that it is about, or -1 if nothing changed.
  change(index, difference) {
    return this.#put(index, this.changed(index, difference));
  }

  add(start, length_s, pitch) {
    const amplitudes = this.notes.map((note) => note.amplitude ?? 0.8).sort((one, other) => one - other);
    const amplitude = amplitudes[Math.floor(amplitudes.length / 2)] ?? 0.8;
    const from = Math.max(0, start);
    return this.#put(-1, {start: from, end: from + Math.max(kShortest_s, length_s), pitch, amplitude, bends: []});
  }

  // The first silence from `time` on that has room for a note: {start, length}.
  gapAfter(time) {
    let start = time;
    for (const note of this.notes) {
      if (note.start - start >= kLeastGap_s) return {start, length: note.start - start};
      start = Math.max(start, note.end);
    }
    return {start, length: Infinity};
  }

  remove(index) {
    if (!this.notes[index]) return -1;
    this.#become(this.notes.filter((_, i) => i !== index));
    return Math.min(index, this.notes.length - 1);
  }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.notes);
    this.notes = this.#past.pop();
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.notes);
    this.notes = this.#future.pop();
  }
}
