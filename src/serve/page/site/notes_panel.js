// The panel of the notes: piano roll, tools for the selected note, what was heard.
import {announce, element, find, setText} from './dom.js';
import {kPeaksPerSecond, melodyChanged} from './flow.js';
import {noteName} from './melody.js';
import {player} from './player.js';
import {Roll} from './roll.js';
import {get, watch} from './state.js';
import {playNote} from './synth.js';

const kNudge_s = 0.05;
let roll = null;
let shown = null;

function audition(note) {
  if (player.isPlaying) return;
  const context = player.context;
  playNote(context, context.destination, {...note, end: Math.min(note.end, note.start + 1.5)}, context.currentTime + 0.02);
}

function onChange(index) {
  const melody = get('melody');
  if (index >= 0) audition(melody.notes[index]);
  melodyChanged();
}

function onSelect(index) {
  const note = get('melody')?.notes[index];
  setText(find('#note-name'), note ? `${noteName(note.pitch)}, ${note.start.toFixed(2)} to ${note.end.toFixed(2)} s` :
                                     'Select a note to change it');
  for (const button of find('#note-tools').querySelectorAll('[data-note]')) button.disabled = !note;
}

function undo(isRedo) {
  const melody = get('melody');
  if (!(isRedo ? melody.canRedo : melody.canUndo)) return;
  if (isRedo) melody.redo();
  else melody.undo();
  roll.layOut();
  roll.select(Math.min(roll.selected, melody.notes.length - 1));
  announce(isRedo ? 'Redone.' : 'Undone.');
  melodyChanged();
}

const kTools = {
  'undo': () => undo(false),
  'redo': () => undo(true),
  'add': () => roll.addAfterSelected(player.position),
  'delete': () => roll.removeSelected(),
  'higher': () => roll.change({semitones: 1}),
  'lower': () => roll.change({semitones: -1}),
  'earlier': () => roll.change({start_s: -kNudge_s, end_s: -kNudge_s}),
  'later': () => roll.change({start_s: kNudge_s, end_s: kNudge_s}),
  'shorter': () => roll.change({end_s: -kNudge_s}),
  'longer': () => roll.change({end_s: kNudge_s}),
  'zoom-in': () => roll.zoomBy(1.5),
  'zoom-out': () => roll.zoomBy(1 / 1.5),
};

function summary(melody, heard) {
  const parts = [melody.notes.length === 1 ? '1 note' : `${melody.notes.length} notes`];
  if (heard?.heard_key) parts.push(String(heard.heard_key.key ?? heard.heard_key).replace(':', ' '));
  if (heard?.tempo_bpm) parts.push(`${Math.round(heard.tempo_bpm)} beats per minute`);
  if (melody.notes.some((note) => note.confidence && note.confidence < 0.5)) parts.push('striped: unsure');
  return parts.join(', ');
}

function showMelody() {
  const melody = get('melody');
  const heard = get('heard');
  find('#notes').hidden = !melody;
  if (!melody) return;
  setText(find('#notes-summary'), summary(melody, heard));
  find('#tool-undo').disabled = !melody.canUndo;
  find('#tool-redo').disabled = !melody.canRedo;
  find('#no-notes').hidden = melody.notes.length > 0;
  if (shown === melody) return;
  shown = melody;
  find('#warnings').replaceChildren(...(heard?.warnings ?? []).map((text) => element('li', {text})));
  const hum = get('hum');
  roll.show(melody, {
    seconds: Math.max(hum?.seconds ?? 0, melody.end_s), peaks: hum?.peaks, peaksPerSecond: kPeaksPerSecond,
    beat_s: heard?.tempo_bpm ? 60 / heard.tempo_bpm : 0, firstBeat_s: heard?.first_beat ?? 0,
  });
  onSelect(-1);
}

function showPosition() {
  const isAtStart = !player.isPlaying && player.position === 0;
  if (get('melody')) roll.setPosition(isAtStart ? null : player.position);
}

export function startNotesPanel() {
  roll = new Roll(find('#roll'), {
    onChange, onSelect, onPlay: audition, onSeek: (seconds) => player.seek(seconds), onUndo: () => undo(false),
    onRedo: () => undo(true),
  });
  for (const [name, action] of Object.entries(kTools)) find(`#tool-${name}`).addEventListener('click', action);
  watch('melody', showMelody);
  watch('preview', (notes) => roll.setPreview(notes));
  player.addEventListener('time', showPosition);
  player.addEventListener('change', showPosition);
  document.addEventListener('keydown', (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z';
    if (!isUndo || !get('melody') || event.target.matches('input, textarea')) return;
    event.preventDefault();
    undo(event.shiftKey);
  });
}
