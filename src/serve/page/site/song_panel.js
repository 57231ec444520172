// The panel of a song: its stems with faders, and remixes in which the chosen instrument plays one of them.
import {getStems} from './api.js';
import {stageText} from './dock.js';
import {announce, element, find, findAll, icon, setText} from './dom.js';
import {dropSound, instrumentName} from './jobs.js';
import {mixer} from './mixer.js';
import {player} from './player.js';
import {hideProblem, showProblem} from './problems.js';
import {takeRow} from './results_panel.js';
import {forgetSong, memoryText, remix, separate} from './song.js';
import {get, set, watch} from './state.js';

let work = null;  // AbortController of the job that runs

function showJob(job) {
  find('#song-progress').hidden = !job;
  for (const control of findAll('#song, #song-stems [data-stem]')) control.disabled = Boolean(work);
  if (!job) return;
  const bar = find('#song-progress progress');
  if (job.progress > 0) bar.value = job.progress;
  else bar.removeAttribute('value');
  setText(find('#song-state'), stageText(job));
}

async function working(title, steps) {
  if (work) return;
  const mine = new AbortController();
  work = mine;
  hideProblem();
  showJob({status: 'sending'});
  try {
    await steps((job) => work === mine && showJob(job), mine.signal);
  } catch (fault) {
    if (work === mine) showProblem(fault, {title});
  } finally {
    if (work === mine) end();
  }
}

function end() {
  work = null;
  showJob(null);
}

// The page is free at once; the steps remove from the service what they have begun.
function cancel() {
  if (!work) return;
  work.abort();
  end();
  announce('Cancelled.');
}

function dropSong(song) {
  if (!song) return;
  player.pause();
  for (const sound of [...song.stems, ...(get('remixes') ?? [])]) dropSound(sound);
  set('remixes', []);
  set('song', null);
  forgetSong(song).catch(() => {});  // the service removes it after some days
}

async function useSong(file) {
  if (!file) return;
  await working(`${file.name} cannot be separated`, async (onJob, signal) => {
    const song = await separate(file, onJob, signal);
    dropSong(get('song'));
    set('song', song);
    announce(`${song.stems.length} stems are ready.`);
  });
}

async function playStem(stem) {
  const song = get('song');
  await working(`${stem.label} cannot be played`, async (onJob, signal) => {
    const others = get('remixes') ?? [];
    const sound = await remix(song, stem, get('timbre'), others.map(({label}) => label), onJob, signal);
    set('remixes', [...others, sound]);
    announce(`${sound.label} is ready.`);
  });
}

// What ends the row of a stem.
function remixButton(stem) {
  if (!stem.isMelodic) return null;
  return element('button', {type: 'button', class: 'chip', 'data-stem': stem.name, onclick: () => playStem(stem)});
}

function showTimbre() {
  const name = instrumentName(get('timbre'));
  for (const button of findAll('#song-stems [data-stem]')) {
    button.hidden = !name;
    setText(button, `Play on ${name.toLowerCase()}`);
    button.setAttribute('aria-label', `Play ${button.dataset.stem} on ${name.toLowerCase()}`);
  }
}

function mixRow(song) {
  const {root, play} = mixer('Stems', song.stems, remixButton);
  const toggle = () => {
    const isHeard = player.isPlaying && player.selected.includes(song.stems[0].id);
    return isHeard ? player.pause() : play();
  };
  const button = element('button', {
    type: 'button', class: 'round', 'aria-label': 'Play the mix', 'data-sound': song.stems[0].id, onclick: toggle,
  }, icon('play'));
  const archive = element('a', {href: song.archive, download: 'hum-stems.zip', class: 'chip'}, icon('download'),
                          element('span', {text: 'All stems (FLAC, zip)'}));
  const memory = memoryText(song);
  return element('div', {class: 'take'}, button,
                 element('div', {class: 'take-text'}, memory && element('p', {class: 'quiet', text: memory}), root,
                         element('div', {class: 'chips'}, archive)));
}

function showSong(song) {
  setText(find('#song-name'), song?.name ?? 'No song chosen');
  find('#song-stems').replaceChildren(...(song ? [mixRow(song)] : []));
  showTimbre();
}

// Only where the service can separate songs.
async function offer() {
  try {
    find('#song-panel').hidden = (await getStems()).length === 0;
  } catch {
    // The panel stays hidden.
  }
}

export function startSongPanel() {
  find('#song').addEventListener('change', async ({target}) => {
    const [file] = target.files;
    target.value = '';
    await useSong(file);
  });
  find('#song-cancel').addEventListener('click', cancel);
  watch('song', showSong);
  watch('timbre', showTimbre);
  watch('remixes', (remixes) => find('#remixes').replaceChildren(...remixes.map(takeRow).reverse()));
  offer();
}
