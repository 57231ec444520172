// The bar at the bottom: what is heard, where, and the button that plays the take on the instrument. A song whose stems
// are loaded has the bar without that button.
import {isCancelled} from './api.js';
import {isFinal} from './follow.js';
import {announce, clockText, durationText, element, find, setIcon, setText} from './dom.js';
import {cancel, instrumentName, isWorking, make, ready} from './jobs.js';
import {player} from './player.js';
import {showProblem} from './problems.js';
import {isOfSong} from './song.js';
import {get, watch} from './state.js';

const kStages = {
  sending: 'Sending', queued: 'Waiting', separate: 'Separating the stems', hear: 'Finding the notes',
  play: 'Playing', write: 'Writing the files',
};

export function stageText(job) {
  const name = job.status === 'running' ? job.stage : job.status;
  const text = kStages[name] ?? (name ? name.charAt(0).toUpperCase() + name.slice(1) : 'Working');
  const place = job.status === 'queued' && job.position > 1 ? `, number ${job.position} in the queue` : '';
  const left = job.seconds_left > 0 ? `, about ${durationText(job.seconds_left)} left` : '';
  return `${text}${place}${left}`;
}

// What can be heard: the hum, its notes, all takes.
function sources() {
  const list = [];
  if (player.has('hum')) list.push({id: 'hum', label: 'Hum'});
  if (player.has('notes')) list.push({id: 'notes', label: 'Notes'});
  return [...list, ...(get('takes') ?? [])];
}

// Whether it is heard now.
export async function choose(sound) {
  try {
    await ready(sound);
    player.mix({[sound.id]: 1});
    return true;
  } catch (fault) {
    if (!isCancelled(fault)) showProblem(fault, {title: `${sound.label} cannot be heard`});
    return false;
  }
}

function showSources() {
  const list = sources();
  const ids = list.map((sound) => `${sound.id} ${sound.label}`).join();
  const root = find('#sources');
  root.hidden = list.length === 0;
  if (root.dataset.ids !== ids) {
    root.dataset.ids = ids;
    root.replaceChildren(element('legend', {class: 'visually-hidden', text: 'Listen to'}), ...list.map((sound) => {
      const id = `source-${sound.id.replace('/', '-')}`;
      const input = element('input', {
        type: 'radio', name: 'source', id, value: sound.id,
        onchange: () => choose(sources().find((present) => present.id === sound.id)),
      });
      return element('span', {class: 'source'}, input, element('label', {for: id, text: sound.label}));
    }));
    root.lastElementChild?.scrollIntoView?.({block: 'nearest', inline: 'nearest'});
  }
  for (const input of root.querySelectorAll('input')) input.checked = player.selected.includes(input.value);
}

function showTransport() {
  const hasTake = get('take') !== null;
  const isShown = hasTake || player.selected.some(isOfSong);
  find('#dock').hidden = !isShown;
  document.body.classList.toggle('has-dock', isShown);
  find('.main-action').hidden = !hasTake;
  const button = find('#play');
  setIcon(find('.icon', button), player.isPlaying ? 'pause' : 'play');
  button.setAttribute('aria-label', player.isPlaying ? 'Pause' : 'Play');
  button.disabled = player.seconds === 0 && !player.grows;
  showSources();
  showTime();
}

function showTime() {
  const slider = find('#position');
  const {position, seconds} = player;
  slider.max = Math.max(0.01, seconds).toFixed(2);
  if (slider !== document.activeElement || player.isPlaying) slider.value = position;
  slider.setAttribute('aria-valuetext', `${clockText(position)} of ${clockText(seconds)}`);
  setText(find('#clock'), `${clockText(position)} / ${clockText(seconds)}`);
}

function showMake() {
  const job = get('job');
  const button = find('#make');
  const name = instrumentName(get('timbre'));
  const isBusy = isWorking();
  setText(find('#make-text'), name ? `Play on ${name.charAt(0).toLowerCase()}${name.slice(1)}` : 'Choose an instrument');
  const hadFocus = [button, find('#cancel')].includes(document.activeElement);
  button.hidden = isBusy;
  button.disabled = !name || !get('take') || get('melody')?.notes.length === 0 || get('stage') === 'uploading';
  find('#cancel').hidden = !isBusy;
  if (hadFocus) (isBusy ? find('#cancel') : button).focus();
  showProgress(job);
}

let lastStage = '';

function showProgress(job) {
  const shown = job && !isFinal(job) ? job : null;
  find('#progress').hidden = !shown;
  if (!shown) return;
  const bar = find('#progress progress');
  if (shown.progress > 0) bar.value = shown.progress;
  else bar.removeAttribute('value');
  setText(find('#progress-text'), stageText(shown));
  const stage = shown.stage ?? shown.status;
  if (stage !== lastStage) announce(stageText({...shown, seconds_left: 0}));
  lastStage = stage;
}

function togglePlay() {
  if (player.isPlaying) player.pause();
  else player.play();
}

export function startDock() {
  for (const gesture of ['pointerup', 'keydown']) addEventListener(gesture, () => player.context, {once: true});
  find('#play').addEventListener('click', togglePlay);
  find('#position').addEventListener('input', (event) => player.seek(Number(event.target.value)));
  let started_ms = 0;
  find('#make').addEventListener('click', () => {
    started_ms = performance.now();
    make({isBand: find('#band-on').checked});
  });
  // Cancel appears where the button was: the second click of a double click does not mean it.
  find('#cancel').addEventListener('click', () => performance.now() - started_ms > 500 && cancel());
  document.addEventListener('keydown', (event) => {
    const isFree = event.target === document.body || event.target.matches('main, .roll');
    if (event.key !== ' ' || !isFree || find('#dock').hidden) return;
    event.preventDefault();
    togglePlay();
  });
  player.addEventListener('change', showTransport);
  player.addEventListener('time', showTime);
  watch('take takes', showTransport);
  watch('job timbre take melody stage', showMake);
  showTransport();
  showMake();
}
