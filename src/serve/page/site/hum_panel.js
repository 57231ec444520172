// The panel where a take begins: count-in, recording with a level meter, or a sound file.
import {clockText, find, setIcon, setText} from './dom.js';
import {useFile, useRecording} from './flow.js';
import {player} from './player.js';
import {hideProblem, showProblem} from './problems.js';
import {microphoneFault, prepareRecording, Recorder} from './recorder.js';
import {get, set, watch} from './state.js';
import {newTake} from './takes.js';

const kCounts = 3, kCount_s = 0.5;
const kLongest_s = 595;  // the service takes ten minutes
const kShortest_s = 0.25;
const kQuiet = 0.01, kClipped = 0.99;

let recorder = null;
let bars = [];
let loudest = 0;
let shownLevel = 0;
let backingSource = null;

const kLabels = {counting: 'Get ready', recording: 'Stop'};

function showStage() {
  const stage = get('stage');
  const isBusy = stage === 'counting' || stage === 'recording';
  const hasTake = get('take') !== null;
  document.body.classList.toggle('has-take', hasTake && !isBusy);
  document.body.classList.toggle('is-capturing', isBusy);
  document.body.classList.toggle('is-recording', stage === 'recording');
  setText(find('#record-text'), kLabels[stage] ?? (hasTake ? 'Record again' : 'Record'));
  setIcon(find('#record .icon'), stage === 'recording' ? 'stop' : 'mic');
  find('#capture').hidden = !isBusy;
  if (stage !== 'counting') setText(find('#count'), '');
  setText(find('#hum-state'), stateText(stage));
}

function stateText(stage) {
  const take = get('take');
  if (stage === 'counting') return 'Recording starts after the count.';
  if (stage === 'recording') return 'Recording. Hum, then press Stop.';
  const sent = get('uploaded');
  if (stage === 'uploading') return `Sending ${take.name}${sent > 0 && sent < 1 ? `, ${Math.round(sent * 100)} %` : ''}`;
  if (stage === 'hearing') return 'Listening for the notes';
  return take ? `${take.name}, ${clockText(take.seconds)}` : '';
}

function showLevel(peak) {
  loudest = Math.max(loudest, peak);
  // Falls slowly, so that the eye can follow.
  shownLevel = Math.max(peak, shownLevel * 0.85);
  const decibels = 20 * Math.log10(Math.max(shownLevel, 1e-4));
  const share = Math.max(0, Math.min(1, 1 + decibels / 60));
  find('#meter span').style.transform = `scaleX(${share})`;
  find('#meter').classList.toggle('clipped', shownLevel >= kClipped);
  find('#meter').setAttribute('aria-valuenow', String(Math.round(share * 100)));
}

function drawLive() {
  const canvas = find('#live');
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const draw = canvas.getContext('2d');
  draw.fillStyle = getComputedStyle(canvas).color;
  const step = 4 * scale;
  const count = Math.floor(canvas.width / step);
  bars.slice(-count).forEach((peak, i) => {
    const height = Math.max(2 * scale, peak ** 0.6 * canvas.height);
    draw.fillRect(i * step, (canvas.height - height) / 2, 2.5 * scale, height);
  });
}

function onPiece(samples, seconds) {
  bars.push(samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0));
  setText(find('#record-clock'), clockText(seconds));
  drawLive();
  if (seconds >= kLongest_s) stop();
}

async function countIn() {
  set('stage', 'counting');
  for (let count = kCounts; count > 0 && get('stage') === 'counting'; --count) {
    setText(find('#count'), String(count));
    await new Promise((done) => setTimeout(done, kCount_s * 1000));
  }
}

function playBacking() {
  const backing = get('backing');
  if (!backing?.isHeardWhileRecording) return;
  backingSource = new AudioBufferSourceNode(player.context, {buffer: backing.buffer});
  backingSource.connect(new GainNode(player.context, {gain: backing.level})).connect(player.context.destination);
  backingSource.start();
}

async function start() {
  hideProblem();
  player.pause();
  bars = [];
  loudest = 0;
  const take = newTake(`Hum ${new Date().toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'})}`);
  const opened = new Recorder(take.id, {onPiece, onLevel: showLevel});
  try {
    await opened.open();
  } catch (fault) {
    showProblem(new Error(microphoneFault(fault)), {title: 'No microphone'});
    return;
  }
  opened.made = take;
  recorder = opened;
  setText(find('#record-clock'), clockText(0));
  await countIn();
  if (get('stage') !== 'counting' || recorder !== opened) return;
  recorder.start();
  playBacking();
  set('stage', 'recording');
}

function abandon() {
  recorder.close();
  recorder = null;
  set('stage', get('take') ? 'ready' : 'idle');
}

async function stop() {
  const stopped = recorder;
  if (!stopped) return;
  recorder = null;
  backingSource?.stop();
  backingSource = null;
  const samples = await stopped.stop();
  set('stage', get('take') ? 'ready' : 'idle');
  if (stopped.seconds < kShortest_s) {
    showProblem(new Error('Hum for a few seconds before you press Stop.'), {title: 'That was too short'});
    return;
  }
  if (loudest < kQuiet) {
    showProblem(new Error('Check that the right microphone is chosen and not muted, then record again.'),
                {title: 'The recording is almost silent'});
  }
  await useRecording(stopped.made, samples, stopped.rate_hz);
}

function onRecord() {
  const stage = get('stage');
  if (stage === 'counting') abandon();
  else if (stage === 'recording') stop();
  else start();
}

async function onFile(file) {
  if (!file) return;
  if (recorder) abandon();
  const kLargest_bytes = 100e6;
  if (file.size > kLargest_bytes) {
    showProblem(new Error('Choose a file of at most 100 MB, or cut this one.'), {title: 'This file is too large'});
    return;
  }
  if (file.size === 0) {
    showProblem(new Error('Choose another one.'), {title: 'This file is empty'});
    return;
  }
  try {
    await useFile(file);
  } catch (fault) {
    showProblem(fault, {title: 'This file cannot be read'});
  }
}

function acceptDrops() {
  const body = document.body;
  let depth = 0;
  const show = () => body.classList.toggle('is-dropping', depth > 0);
  body.addEventListener('dragenter', () => (++depth, show()));
  body.addEventListener('dragleave', () => (--depth, show()));
  body.addEventListener('dragover', (event) => event.preventDefault());
  body.addEventListener('drop', (event) => {
    event.preventDefault();
    depth = 0;
    show();
    onFile(event.dataTransfer.files[0]);
  });
}

export function startHumPanel() {
  prepareRecording().catch(() => {});  // pressing Record tries again and says what is wrong
  find('#record').addEventListener('click', onRecord);
  find('#file').addEventListener('change', (event) => {
    onFile(event.target.files[0]);
    event.target.value = '';
  });
  acceptDrops();
  watch('stage take uploaded', showStage);
  set('stage', 'idle');
  addEventListener('beforeunload', (event) => {
    if (recorder) event.preventDefault();
  });
}
