// The options of a job as forms. One row is one option of the API, which has the names of `hum generate --help`.
import {debounced, element} from './dom.js';
import {get, set, watch} from './state.js';

const kTonics = ['C', 'C#', 'D', 'Eb', 'E', 'F', 'F#', 'G', 'Ab', 'A', 'Bb', 'B'];
const kModes = ['major', 'minor', 'dorian', 'phrygian', 'lydian', 'mixolydian', 'locrian'];
const percent = (value) => `${Math.round(value * 100)} %`;
const signed = (value) => (value > 0 ? `+${value}` : `${value}`);

// kind "choice": choices [value, label]; "words": words [value, label], or a number between least and most; "range": a
// slider; "number"; "check"; "key". `initial` is the default of the API: such a value is not sent. A row that `needs`
// another is shown, and sent, only while that one is checked.
const kScore = [
  {name: 'key', label: 'Key', kind: 'key', initial: 'off', help: 'Moves notes outside the key to the nearest one in it.'},
  {name: 'tempo', label: 'Tempo', kind: 'words', words: [['auto', 'As sung'], ['off', 'None']], number: 'Set a tempo',
   unit: 'beats per minute', least: 20, most: 400, start: 100, initial: 'auto',
   help: 'A tempo stretches the melody to it.'},
  {name: 'snap', label: 'Snap to the grid', kind: 'range', least: 0, most: 1, step: 0.05, start: 0, initial: 0,
   text: (value) => (value === 0 ? 'Off' : percent(value)), help: 'Moves starts and ends of notes towards the grid.'},
  {name: 'grid', label: 'Grid', kind: 'choice', initial: '1/16',
   choices: [['1/4', '1/4'], ['1/8', '1/8'], ['1/8t', '1/8 triplets'], ['1/16', '1/16'], ['1/16t', '1/16 triplets'],
             ['1/32', '1/32']]},
  {name: 'swing', label: 'Swing', kind: 'range', least: 50, most: 75, step: 1, start: 50, initial: 50,
   text: (value) => (value === 50 ? 'Straight' : `${value} %`), help: 'Delays every second line of the grid.'},
  {name: 'correct', label: 'Pitch correction', kind: 'words', words: [['auto', 'As the instrument needs']],
   number: 'Set it', unit: '0 keeps bends, 1 plays exact pitches', least: 0, most: 1, step: 0.05, start: 0.5,
   initial: 'auto'},
];
const kSound = [
  {name: 'seed', label: 'Seed', kind: 'number', least: 0, most: 1e9, start: 0, initial: 0,
   help: 'The same seed gives the same sound.'},
  {name: 'octave', label: 'Octave', kind: 'choice', initial: 'auto',
   choices: [['auto', 'Into the instrument\'s range'], ['-2', '2 down'], ['-1', '1 down'], ['0', 'As sung'], ['1', '1 up'],
             ['2', '2 up']]},
  {name: 'transpose', label: 'Transpose', kind: 'range', least: -12, most: 12, step: 1, start: 0, initial: 0,
   text: (value) => `${signed(value)} semitones`},
  {name: 'lm', label: 'Let it vary', kind: 'check', initial: false,
   help: 'A language model varies the sound. This takes a few times as long.'},
  {name: 'takes', label: 'Takes', kind: 'choice', initial: '1', isNumber: true, needs: 'lm',
   choices: [['1', 'One'], ['2', 'Two'], ['3', 'Three'], ['4', 'Four']],
   help: 'Takes differ in details of the sound.'},
  {name: 'strength', label: 'Freedom', kind: 'range', needs: 'lm', least: 0, most: 1, step: 0.05, start: 0.5,
   initial: 0.5, text: percent, help: 'Low: close to the melody and the instrument. High: freer colour and dynamics.'},
];
const kBand = [
  {name: 'style', label: 'Style', kind: 'choice', initial: 'pop',
   choices: [['pop', 'Pop'], ['ballad', 'Ballad'], ['swing', 'Swing']]},
  {name: 'beats', label: 'Beats in a bar', kind: 'choice', initial: '4', isNumber: true, choices: [['3', '3'], ['4', '4']]},
];

const isOn = (row, options) => !row.needs || Boolean(options?.[row.needs]);

function store(row, value) {
  const {[row.name]: _, ...others} = get('options') ?? {};
  set('options', value === row.initial ? others : {...others, [row.name]: value});
}

const select = (id, choices, chosen) =>
    element('select', {id}, ...choices.map(([value, text]) => element('option', {value, text, selected: value === chosen})));

function choiceControl(row, id, changed) {
  const control = select(id, row.choices, row.initial);
  const read = () => (row.isNumber && control.value !== row.initial ? Number(control.value) : control.value);
  control.addEventListener('change', () => changed(read()));
  return [control];
}

function rangeControl(row, id, changed) {
  const control = element('input', {type: 'range', id, min: row.least, max: row.most, step: row.step, value: row.start});
  const output = element('output', {for: id, 'aria-live': 'off'});
  const show = () => {
    output.textContent = row.text(Number(control.value));
    control.setAttribute('aria-valuetext', output.textContent);
  };
  control.addEventListener('input', show);
  control.addEventListener('change', () => changed(Number(control.value)));
  show();
  return [element('span', {class: 'range'}, control, output)];
}

function numberControl(row, id, changed) {
  const control = element('input', {
    type: 'number', id, min: row.least, max: row.most, step: row.step ?? 1, value: row.start, inputmode: 'decimal',
  });
  control.addEventListener('change', () => {
    const typed = control.value === '' ? row.start : Number(control.value);
    const value = Math.max(row.least, Math.min(row.most, typed));
    control.value = value;
    changed(value);
  });
  return [control];
}

function checkControl(row, id, changed) {
  const control = element('input', {type: 'checkbox', id});
  control.addEventListener('change', () => changed(control.checked));
  return [control];
}

// A word, or a number in a second field that appears when it is wanted.
function wordsControl(row, id, changed) {
  const control = select(id, [...row.words, ['number', row.number]], row.initial);
  const [field] = numberControl(row, `${id}-number`, changed);
  field.setAttribute('aria-label', `${row.label}: ${row.unit}`);
  field.hidden = true;
  control.addEventListener('change', () => {
    field.hidden = control.value !== 'number';
    changed(field.hidden ? control.value : Number(field.value));
  });
  return [element('span', {class: 'pair'}, control, field)];
}

function keyControl(row, id, changed) {
  const tonic = select(id, [['off', 'Off'], ['auto', 'As sung'], ...kTonics.map((name) => [name, name])], row.initial);
  const mode = select(`${id}-mode`, kModes.map((name) => [name, name]), 'major');
  mode.setAttribute('aria-label', 'Mode of the key');
  mode.hidden = true;
  const update = () => {
    mode.hidden = ['off', 'auto'].includes(tonic.value);
    changed(mode.hidden ? tonic.value : `${tonic.value}:${mode.value}`);
  };
  tonic.addEventListener('change', update);
  mode.addEventListener('change', update);
  return [element('span', {class: 'pair'}, tonic, mode)];
}

const kControls = {
  choice: choiceControl, range: rangeControl, number: numberControl, check: checkControl, words: wordsControl,
  key: keyControl,
};

function fill(root, rows) {
  for (const row of rows) {
    const id = `option-${row.name}`;
    const storeRow = (value) => store(row, value);
    const controls = kControls[row.kind](row, id, row.kind === 'range' ? debounced(storeRow, 150) : storeRow);
    const help = row.help && element('span', {class: 'help', id: `${id}-help`, text: row.help});
    const field = element('div', {class: row.kind === 'check' ? 'field check' : 'field'},
                          element('label', {for: id, text: row.label}), ...controls, help);
    if (help) field.querySelector(`#${id}`).setAttribute('aria-describedby', help.id);
    if (row.needs) {
      const show = (options) => { field.hidden = !isOn(row, options); };
      watch('options', show);
      show(get('options'));
    }
    root.append(field);
  }
}

export function fillOptions(score, sound, band) {
  set('options', {});
  fill(score, kScore);
  fill(sound, kSound);
  fill(band, kBand);
}

function chosen(rows) {
  const options = get('options') ?? {};
  const sent = rows.filter((row) => row.name in options && isOn(row, options));
  return Object.fromEntries(sent.map((row) => [row.name, options[row.name]]));
}

export const scoreOptions = () => chosen(kScore);
export const soundOptions = () => chosen(kSound);
export const bandOptions = () => chosen(kBand);
