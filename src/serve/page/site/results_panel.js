// The panel of what was made: takes with their downloads, the backing track.
import {choose} from './dock.js';
import {announce, element, find, findAll, icon, setIcon, setText} from './dom.js';
import {mixer} from './mixer.js';
import {player} from './player.js';
import {showProblem} from './problems.js';
import {isOfSong} from './song.js';
import {decode} from './sounds.js';
import {get, set, watch} from './state.js';

async function listen(sound) {
  if (player.isPlaying && player.selected.includes(sound.id)) {
    player.pause();
    return;
  }
  player.pause();
  if (await choose(sound)) player.play(0);
}

// sound: as in `takes`.
export function takeRow(sound) {
  const play = element('button', {
    type: 'button', class: 'round', 'aria-label': `Play ${sound.label}`, 'data-sound': sound.id, onclick: () => listen(sound),
  }, icon('play'));
  const files = sound.files.map((file) => element('a', {
    href: file.url, download: file.saved, class: 'chip', 'aria-label': `Download ${sound.label} as ${file.label}`,
  }, icon('download'), element('span', {text: file.label})));
  const state = sound.isGrowing && element('span', {class: 'quiet', text: 'Being made'});
  const text = element('div', {class: 'take-text'}, element('strong', {text: sound.label}), state,
                       files.length > 0 && element('div', {class: 'chips'}, ...files),
                       sound.stems?.length > 0 && mixer('Parts', sound.stems).root);
  return element('li', {class: 'take'}, play, text);
}

let shownTakes = 0;

function showTakes(takes) {
  const count = takes?.length ?? 0;
  find('#results').hidden = count === 0;
  find('#takes').replaceChildren(...(takes ?? []).map(takeRow).reverse());
  if (count > shownTakes) find('#results').scrollIntoView({block: 'nearest', behavior: 'smooth'});
  shownTakes = count;
  showPlaying();
}

function showPlaying() {
  for (const button of findAll('[data-sound]')) {
    const sounds = player.isPlaying && player.selected.includes(button.dataset.sound);
    setIcon(find('.icon', button), sounds ? 'pause' : 'play');
  }
  applyBacking();
}

let heard = '';

// The backing plays beside the hum, the notes and the takes, but not beside a take that already contains it, or a song.
function applyBacking() {
  const backing = get('backing');
  const take = (get('takes') ?? []).find((sound) => player.selected.includes(sound.id));
  const isHeard = backing?.isOn && !take?.job.isMixed && !player.selected.some(isOfSong);
  const now = isHeard ? JSON.stringify([backing.name, backing.offset_s, backing.level]) : '';
  if (now === heard) return;
  heard = now;
  player.setBacking(isHeard ? backing : null);
}

async function useBacking(file) {
  if (!file) return;
  try {
    const buffer = await decode(file);
    set('backing', {
      name: file.name, buffer, offset_s: 0, level: 0.6, isOn: true, isMixed: false, isHeardWhileRecording: false,
    });
    announce(`${file.name} plays along now.`);
  } catch {
    showProblem(new Error('Choose a wav, flac, mp3, ogg or m4a file.'), {title: 'This backing track cannot be read'});
  }
}

function showBacking(backing) {
  setText(find('#backing-name'), backing?.name ?? 'No track chosen');
  find('#backing-fields').hidden = !backing;
  if (backing) {
    find('#backing-on').checked = backing.isOn;
    find('#backing-mixed').checked = backing.isMixed;
    find('#backing-while').checked = backing.isHeardWhileRecording;
    find('#backing-level').value = backing.level;
    find('#backing-offset').value = Math.round(backing.offset_s * 1000);
    setText(find('#backing-offset-text'), `${Math.round(backing.offset_s * 1000)} ms`);
  }
  applyBacking();
}

function onBacking(id, event, field, valueOf) {
  find(id).addEventListener(event, ({target}) => set('backing', {...get('backing'), [field]: valueOf(target)}));
}

export function startResultsPanel() {
  watch('takes', showTakes);
  watch('backing', showBacking);
  player.addEventListener('change', showPlaying);
  find('#backing').addEventListener('change', (event) => useBacking(event.target.files[0]));
  onBacking('#backing-on', 'change', 'isOn', (target) => target.checked);
  onBacking('#backing-mixed', 'change', 'isMixed', (target) => target.checked);
  onBacking('#backing-while', 'change', 'isHeardWhileRecording', (target) => target.checked);
  onBacking('#backing-level', 'input', 'level', (target) => Number(target.value));
  onBacking('#backing-offset', 'input', 'offset_s', (target) => Number(target.value) / 1000);
}
