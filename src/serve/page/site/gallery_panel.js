// The panel of the instruments: presets by family with a sound to click, or the person's own clip.
import {getPresets, getPresetSound} from './api.js';
import {announce, element, find, findAll, icon, setIcon, setText, titleOf} from './dom.js';
import {kRate_hz, player} from './player.js';
import {showProblem} from './problems.js';
import {decode, wavOf} from './sounds.js';
import {get, set, watch} from './state.js';

const kFamilies = [
  ['piano', 'Piano'], ['chromatic', 'Mallets and bells'], ['organ', 'Organ'], ['guitar', 'Guitar'], ['bass', 'Bass'],
  ['strings', 'Strings'], ['ensemble', 'Ensemble'], ['brass', 'Brass'], ['reed', 'Reeds'], ['pipe', 'Flutes'],
  ['synth', 'Synth lead'], ['pad', 'Synth pad'], ['ethnic', 'World'],
];
const kPopular = [
  'violin', 'flute', 'acoustic-grand-piano', 'trumpet', 'nylon-guitar', 'cello', 'clarinet', 'alto-sax', 'harp',
  'choir-aahs', 'marimba', 'string-ensemble',
];
const kShortNames = {'acoustic-grand-piano': 'Grand piano', 'choir-aahs': 'Choir'};
const kShortestClip_s = 1;
const kRemembered = 'hum-instrument';

let shownFamily = 'popular';
let source = null;      // what sounds now
let playing = null;     // its preset

const labelOf = (preset) => kShortNames[preset.name] ?? titleOf(preset.name);

function stopSound() {
  source?.stop();
  source = null;
  playing = null;
  for (const svg of findAll('.tile-play .icon')) setIcon(svg, 'play');
}

async function playSound(preset, button) {
  const wasPlaying = playing === preset.name;
  stopSound();
  if (wasPlaying) return;
  player.pause();
  const {context} = player;
  playing = preset.name;
  button.setAttribute('aria-busy', 'true');
  try {
    const buffer = await new OfflineAudioContext(1, 1, kRate_hz).decodeAudioData(await getPresetSound(preset.sound));
    if (playing !== preset.name) return;
    source = new AudioBufferSourceNode(context, {buffer});
    const mine = source;
    source.onended = () => source === mine && stopSound();
    source.connect(context.destination);
    source.start();
    setIcon(find('.icon', button), 'stop');
  } catch (fault) {
    if (playing === preset.name) playing = null;
    showProblem(fault, {title: `${labelOf(preset)} cannot be heard now`});
  } finally {
    button.removeAttribute('aria-busy');
  }
}

function tile(preset) {
  const id = `preset-${preset.name}`;
  const input = element('input', {
    type: 'radio', name: 'preset', id, value: preset.name, checked: get('timbre')?.preset === preset.name,
    onchange: () => choose(preset.name),
  });
  const play = preset.sound && element('button', {
    type: 'button', class: 'tile-play', 'aria-label': `Hear ${labelOf(preset)}`, onclick: () => playSound(preset, play),
  }, icon('play'));
  return element('div', {class: 'tile'}, input,
                 element('label', {for: id}, icon(preset.family), element('span', {text: labelOf(preset)})), play);
}

function choose(name) {
  set('timbre', {preset: name});
  try {
    localStorage.setItem(kRemembered, name);
  } catch {
    // A browser that keeps nothing.
  }
}

// Groups of presets: [title or null, presets]. A search looks through all families.
function groups() {
  const presets = get('presets') ?? [];
  const words = find('#search').value.trim().toLowerCase().split(/[\s-]+/).filter(Boolean);
  if (words.length > 0) {
    const found = presets.filter((preset) => words.every((word) => `${preset.name} ${preset.family}`.includes(word)));
    return [[null, found]];
  }
  if (shownFamily === 'popular') {
    return [[null, kPopular.map((name) => presets.find((preset) => preset.name === name)).filter(Boolean)]];
  }
  const families = kFamilies.filter(([family]) => shownFamily === 'all' || family === shownFamily);
  return families.map(([family, title]) => [shownFamily === 'all' ? title : null,
                                            presets.filter((preset) => preset.family === family)]);
}

function showTiles() {
  const parts = groups().filter(([, presets]) => presets.length > 0).flatMap(([title, presets]) => [
    title && element('h3', {text: title}), element('div', {class: 'tiles'}, ...presets.map(tile)),
  ]);
  find('#gallery').replaceChildren(...parts.filter(Boolean));
  find('#nothing-found').hidden = parts.length > 0 || get('presets') === null;
}

function showFamilies() {
  const present = new Set((get('presets') ?? []).map((preset) => preset.family));
  const chips = [['popular', 'Popular'], ...kFamilies.filter(([family]) => present.has(family)), ['all', 'All']];
  find('#families').replaceChildren(...chips.map(([family, title]) => element('button', {
    type: 'button', class: 'chip', text: title, 'aria-pressed': String(family === shownFamily),
    onclick: (event) => {
      shownFamily = family;
      find('#search').value = '';
      for (const chip of findAll('#families .chip')) chip.setAttribute('aria-pressed', String(chip === event.target));
      showTiles();
    },
  })));
}

async function useClip(file) {
  if (!file) return;
  let buffer = null;
  try {
    buffer = await decode(file);
  } catch {
    // The service may know the format.
  }
  if (buffer && buffer.duration < kShortestClip_s) {
    showProblem(new Error('Choose a sound of 1 to 5 seconds with one instrument.'), {title: 'This clip is too short'});
    return;
  }
  set('timbre', {clip: {name: file.name, wav: buffer ? wavOf(buffer) : file, upload: null}});
  announce(`Your sound ${file.name} is the instrument now.`);
}

function showTimbre(timbre) {
  for (const input of findAll('#gallery input')) input.checked = input.value === timbre?.preset;
  setText(find('#clip-name'), timbre?.clip ? timbre.clip.name : 'No clip chosen');
  find('#clip-panel').classList.toggle('chosen', Boolean(timbre?.clip));
}

async function loadPresets() {
  try {
    const presets = (await getPresets()).filter((preset) => preset.trained !== false);
    set('presets', presets);
    let remembered = null;
    try {
      remembered = localStorage.getItem(kRemembered);
    } catch {
      // As in choose().
    }
    const names = [remembered, 'violin', presets[0]?.name];
    const name = names.find((wanted) => presets.some((preset) => preset.name === wanted));
    if (name) set('timbre', {preset: name});
    showFamilies();
    showTiles();
  } catch (fault) {
    showProblem(fault, {title: 'The instruments cannot be listed', retry: loadPresets});
  }
}

export function startGalleryPanel() {
  find('#search').addEventListener('input', showTiles);
  find('#clip').addEventListener('change', async ({target}) => {
    await useClip(target.files[0]);
    target.value = '';
  });
  watch('timbre', showTimbre);
  player.addEventListener('change', () => player.isPlaying && stopSound());
  loadPresets();
}
