// The form of a listening test after ITU-R BS.1534-3 (MUSHRA): a practice page, then a page for each trial of
// humListeningTest (listening-test.js). The seed decides the order of the trials and of the sounds in each. Answers
// stay in the browser until they are saved.
'use strict';

const kStore = `hum-listening-${humListeningTest.id}`;
const kReference = 'reference';
const kWords = ['bad', 'poor', 'fair', 'good', 'excellent'];
const kMiddle = 50;

const byId = (id) => document.getElementById(id);
const looper = new Looper();
let session = null;  // {listener, seed, step, trials: [{scores: {system: score}, seconds}]}; step 0 is the practice
let trials = [];     // in this person's order
let practice = {};   // scores of the practice page, which do not count
let shown_ms = 0;    // when the page of the trial appeared

// Numbers from 0 to 1 (mulberry32).
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, random) {
  const result = [...list];
  for (let i = result.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

function orderOf(seed) {
  const random = randomNumbers(seed);
  return shuffled(humListeningTest.trials, random).map((trial) => ({
    ...trial, stimuli: shuffled(trial.stimuli, random),
  }));
}

// The store of the browser may be off: then the answers last as long as the page.
function keep() {
  try {
    localStorage.setItem(kStore, JSON.stringify(session));
  } catch {}
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(kStore));
  } catch {
    return null;
  }
}

function forget() {
  try {
    localStorage.removeItem(kStore);
  } catch {}
}

// The practice page plays the trial that comes last.
const isPractice = () => session.step === 0;
const trialNow = () => (isPractice() ? trials.at(-1) : trials[session.step - 1]);
const scoresNow = () => (isPractice() ? practice : session.trials[session.step - 1].scores);

function begin(started) {
  session = started;
  trials = orderOf(session.seed);
  show();
}

function start(listener) {
  const [seed] = crypto.getRandomValues(new Uint32Array(1));
  begin({listener, seed, step: 0, trials: humListeningTest.trials.map(() => ({scores: {}, seconds: 0}))});
  keep();
}

function countSeconds() {
  const isTrial = session.step > 0 && session.step <= trials.length;
  if (isTrial) session.trials[session.step - 1].seconds += (performance.now() - shown_ms) / 1000;
  shown_ms = performance.now();
}

function go(steps) {
  countSeconds();
  session.step += steps;
  keep();
  show();
}

function show() {
  looper.pause();
  shown_ms = performance.now();
  const isEnd = session.step > trials.length;
  byId('start').hidden = true;
  byId('trial').hidden = isEnd;
  byId('end').hidden = !isEnd;
  if (!isEnd) showTrial();
  byId(isEnd ? 'end-title' : 'title').focus();
}

function showTrial() {
  byId('title').textContent = isPractice() ? 'Practice' : `Page ${session.step} of ${trials.length}`;
  byId('progress').value = session.step / (trials.length + 1);
  byId('words').textContent = isPractice() ?
    'Set the volume, hear every sound, and try the sliders. Nothing here counts.' :
    'Rate each sound by all its differences from the reference. One of them is the reference: it deserves 100.';
  byId('back').disabled = isPractice();
  byId('stimuli').replaceChildren(...trialNow().stimuli.map(stimulus));
  showState();
  loadTrial();
}

async function loadTrial() {
  byId('fault').textContent = '';
  const {reference, stimuli} = trialNow();
  try {
    await looper.load([{id: kReference, ...reference}, ...stimuli.map(({system, path, gain_db}) => (
      {id: system, path, gain_db}))]);
    looper.select(kReference);
  } catch (problem) {
    byId('fault').textContent = problem.message;
  }
}

// A column of the board: the slider of a hidden sound, its score, and the button that plays it. Whoever moves a slider
// hears its sound.
function stimulus({system}, i) {
  const letter = String.fromCharCode(65 + i);
  const root = byId('stimulus').content.firstElementChild.cloneNode(true);
  root.dataset.system = system;
  const slider = root.querySelector('input');
  slider.setAttribute('aria-label', `Score of sound ${letter}`);
  root.querySelector('kbd').textContent = i + 1;
  root.querySelector('kbd').hidden = i >= 9;
  root.querySelector('span').textContent = letter;
  root.querySelector('button').setAttribute('aria-label', `Play sound ${letter}`);
  root.querySelector('button').addEventListener('click', () => hear(system));
  slider.addEventListener('pointerdown', () => hear(system));
  slider.addEventListener('focus', () => looper.select(system));
  for (const event of ['input', 'click']) slider.addEventListener(event, () => rate(root, Number(slider.value)));
  showScore(root);
  return root;
}

function hear(system) {
  looper.select(system);
  looper.play();
}

function rate(root, score) {
  hear(root.dataset.system);
  scoresNow()[root.dataset.system] = score;
  showScore(root);
  showState();
  keep();
}

function showScore(root) {
  const score = scoresNow()[root.dataset.system];
  const isRated = score !== undefined;
  const slider = root.querySelector('input');
  slider.value = score ?? kMiddle;
  const word = kWords[Math.min(4, Math.floor(score / 20))];
  slider.setAttribute('aria-valuetext', isRated ? `${score}, ${word}` : 'not rated');
  root.querySelector('output').textContent = score ?? '';
  root.classList.toggle('is-rated', isRated);
}

function showState() {
  const {stimuli} = trialNow();
  const rated = Object.keys(scoresNow()).length;
  const isDone = isPractice() || rated === stimuli.length;
  byId('next').disabled = !isDone;
  byId('state').textContent = isPractice() ? '' : `${rated} of ${stimuli.length} rated`;
}

function showSelected() {
  byId('reference').setAttribute('aria-pressed', looper.selected === kReference);
  for (const root of byId('stimuli').children) {
    const isHeard = root.dataset.system === looper.selected;
    root.classList.toggle('is-heard', isHeard);
    root.querySelector('button').setAttribute('aria-pressed', isHeard);
  }
}

// What `hum evaluate listening` reads.
function answers() {
  return {
    test: humListeningTest.id,
    listener: session.listener,
    seed: session.seed,
    date: new Date().toISOString(),
    trials: trials.map(({clip}, i) => ({
      clip, seconds: Math.round(session.trials[i].seconds), scores: session.trials[i].scores,
    })),
  };
}

function save() {
  const text = `${JSON.stringify(answers(), null, 1)}\n`;
  const link = document.createElement('a');
  const name = session.listener.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  link.download = `listening-${name}-${session.seed}.json`;
  link.href = URL.createObjectURL(new Blob([text], {type: 'application/json'}));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);  // some browsers read it later
  forget();
  byId('saved').textContent = `Saved as ${link.download}`;
  byId('again').hidden = false;
}

function onKey(event) {
  if (byId('trial').hidden) return;
  const digit = digitOf(event);
  const root = byId('stimuli').children[digit - 1];
  if (digit === 0) {
    hear(kReference);
  } else if (root) {
    hear(root.dataset.system);
    root.querySelector('input').focus();
  } else if (isSpace(event)) {
    looper.toggle();
  } else {
    return;
  }
  event.preventDefault();
}

new Transport(byId('trial'), looper, () => looper.toggle());
looper.addEventListener('change', showSelected);
byId('reference').addEventListener('click', () => hear(kReference));
byId('back').addEventListener('click', () => go(-1));
byId('next').addEventListener('click', () => go(1));
byId('end-back').addEventListener('click', () => go(-1));
byId('save').addEventListener('click', save);
byId('again').addEventListener('click', () => location.reload());
document.addEventListener('keydown', onKey);
byId('start-form').addEventListener('submit', (event) => {
  event.preventDefault();
  start(byId('listener').value.trim());
});
if (kept()) begin(kept());
else byId('start').hidden = false;
