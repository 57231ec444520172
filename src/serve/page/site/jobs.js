// Plays a take on an instrument: starts the job, lets it be heard while it is made, collects what comes out.
import {
  deleteJob, deleteUpload, getBytes, getJob, isCancelled, isLostUpload, kRefused, Problem, problemFrom, resultPath,
  startJob,
} from './api.js';
import {keepTake} from './database.js';
import {announce, fileName, numbered, titleOf} from './dom.js';
import {followJob, isFinal} from './follow.js';
import {bandOptions, scoreOptions, soundOptions} from './options.js';
import {kRate_hz, player} from './player.js';
import {hideProblem, showProblem} from './problems.js';
import {shifted, streamInto, wavOf} from './sounds.js';
import {get, set} from './state.js';
import {isCurrent, uploadOnce, uploadTake} from './takes.js';

const kStream = 'stream.wav';
const kFormats = ['wav', 'flac', 'mp3'];
const kStems = ['lead', 'bass', 'chords', 'drums'];

let work = null;  // {controller, take, job} of the job that runs; no job until the service has accepted it

export const isWorking = () => work !== null;

export function instrumentName(timbre) {
  if (timbre?.preset) return titleOf(timbre.preset);
  return timbre?.clip ? 'Your sound' : '';
}

// A file that jobs of the take refer to: it goes with the take.
async function uploaded(take, owner, wav, part) {
  const id = await uploadOnce(owner, wav, part);
  if (!take.sounds?.includes(id)) {
    take.sounds = [...(take.sounds ?? []), id];
    await keepTake(take).catch(() => {});
  }
  return id;
}

// The service has dropped an upload earlier than it said.
async function uploadAgain(take) {
  for (const owner of [get('timbre').clip, get('backing')?.mixed]) {
    if (owner) owner.upload = null;
  }
  await uploadTake(take, true);
}

async function request(take, isBand) {
  const {preset, clip} = get('timbre');
  const backing = get('backing');
  const melody = get('melody');
  const options = {...soundOptions(), ...scoreOptions(), ...(isBand && bandOptions())};
  const job = {task: isBand ? 'arrange' : 'generate', upload: take.upload.id, options};
  if (take.isEdited || melody?.isEdited) job.notes = melody.notes;
  if (preset) options.preset = preset;
  if (clip) job.timbre = await uploaded(take, clip, clip.wav, 'timbre');
  if (backing?.isMixed && !isBand) {
    const moved = backing.mixed?.offset_s === backing.offset_s ? backing.mixed : {offset_s: backing.offset_s};
    backing.mixed = moved;
    job.backing = await uploaded(take, moved, wavOf(shifted(backing.buffer, backing.offset_s)), 'backing');
  }
  return job;
}

// Plays the take with what is chosen.
export async function make({isBand = false} = {}) {
  const take = get('take');
  const timbre = get('timbre');
  if (!take || !timbre || work) return;
  await working(take, () => make({isBand}), async () => {
    await uploadTake(take);
    let asked = await request(take, isBand);
    const started = await startJob(asked).catch(async (fault) => {
      if (!isLostUpload(fault)) throw fault;
      await uploadAgain(take);
      asked = await request(take, isBand);
      return startJob(asked);
    });
    const kept = {id: started.id, label: labelFor(take, timbre, isBand), task: asked.task, options: asked.options,
                  isMixed: Boolean(asked.backing)};
    if (work.controller.signal.aborted) return deleteJob(started.id);
    work.job = started;
    // Before anything else: a page that is closed or reloaded now finds the job again.
    await keepJobs(take, [...take.jobs, kept]);
    await run(take, kept, started);
  });
}

// Does the work of one job. retry: what the person may do if it fails.
async function working(take, retry, steps) {
  work = {controller: new AbortController(), take, job: null};
  hideProblem();
  set('job', {status: 'sending'});
  try {
    await steps();
  } catch (fault) {
    if (!isCancelled(fault)) showProblem(fault, {title: 'The sound could not be made', retry});
  } finally {
    work = null;
    set('job', null);
  }
}

function keepJobs(take, jobs) {
  take.jobs = jobs;
  return keepTake(take).catch(() => {});
}

const dropJob = (take, id) => keepJobs(take, take.jobs.filter((job) => job.id !== id));

function labelFor(take, timbre, isBand) {
  return numbered(instrumentName(timbre) + (isBand ? ' with band' : ''), take.jobs.map((job) => job.label));
}

async function run(take, kept, started) {
  const {signal} = work.controller;
  const live = liveSound(kept, signal);
  const ended = await followJob(started, (job) => {
    set('job', job);
    if (isCurrent(take) && kept.task === 'generate' && ['play', 'write'].includes(job.stage)) live.open();
  }, signal);
  if (ended.status !== 'done') {
    live.drop();
    await dropJob(take, kept.id);
    throw problemFrom(ended.error, kRefused);
  }
  if (isCurrent(take)) await addResults(kept, ended, !live.isHeard());
  announce(`${kept.label} is ready.`);
}

// The sound while it is made: the first take, under the id that it will have.
function liveSound(kept, signal) {
  const id = `${kept.id}/take-1`;
  let state = 'closed';
  const drop = () => {
    set('takes', (get('takes') ?? []).filter((sound) => sound.id !== id));
    player.removeSound(id);
  };
  const begin = () => {
    state = 'heard';
    set('takes', [...(get('takes') ?? []), {id, label: kept.label, job: kept, files: [], isGrowing: true}]);
    player.mix({[id]: 1});
    player.play(0);
  };
  const open = async () => {
    if (state !== 'closed') return;
    state = 'open';
    try {
      await streamInto(id, resultPath(kept.id, kStream), begin, signal);
    } catch {
      // There is no stream yet: the next event tries again. If there is none at all, the results come at the end.
      if (state === 'open') state = 'closed';
    }
  };
  return {open, drop, isHeard: () => state === 'heard'};
}

// The job's sounds become takes. isPlayed: plays the first of them.
async function addResults(kept, job, isPlayed) {
  const stems = job.results.filter((result) => result.name.endsWith('.wav') && result.name !== kStream)
                    .map((result) => result.name.slice(0, -4));
  const isBand = stems.includes('mix');
  const takes = stems.filter((stem) => !isBand || stem === 'mix');
  const before = (get('takes') ?? []).filter((sound) => sound.job.id !== kept.id);
  const added = takes.map((stem, i) => ({
    id: `${kept.id}/${stem}`,
    label: takes.length > 1 ? `${kept.label}, take ${i + 1}` : kept.label,
    job: kept,
    url: resultPath(kept.id, `${stem}.wav`),
    files: filesOf(kept, job, stem),
    stems: isBand ? stems.filter((name) => kStems.includes(name)).map((name) => stemOf(kept, name)) : [],
  }));
  if (added.length === 0) throw new Problem(0, 'The job made no sound', 'Try again with other notes or another instrument.');
  set('takes', [...before, ...added]);
  await ready(added[0]);
  if (isPlayed) {
    player.mix({[added[0].id]: 1});
    player.play(0);
  }
}

const stemOf = (kept, name) =>
    ({id: `${kept.id}/stem-${name}`, label: titleOf(name), url: resultPath(kept.id, `${name}.wav`), job: kept});

// What can be downloaded: the sound in each format, the notes, and everything in one file.
function filesOf(kept, job, stem) {
  const base = fileName(kept.label);
  const of = (name, label, saved) => ({label, url: resultPath(kept.id, name), saved});
  const sounds = kFormats.map((format) => of(`${stem}.${format}`, format.toUpperCase(), `${base}-${stem}.${format}`));
  const midi = job.results.find((result) => result.name.endsWith('.mid'));
  const notes = midi && of(midi.name, 'MIDI', `${base}.mid`);
  return [...sounds, notes, of('all.zip', 'All (zip)', `${base}.zip`)].filter(Boolean);
}

// Makes sure that the player has the sound. All who wait for it share one load; one that failed can be tried again.
// Throws AbortError if the sound is dropped.
export async function ready(sound) {
  if (sound.isLoaded || sound.isGrowing || !sound.url) return;
  sound.use ??= new AbortController();
  sound.loading ??= load(sound, sound.use.signal).finally(() => (sound.loading = null));
  await sound.loading;
}

async function load(sound, signal) {
  const bytes = await getBytes(sound.url, signal);
  const buffer = await new OfflineAudioContext(1, 1, kRate_hz).decodeAudioData(bytes);
  signal.throwIfAborted();
  player.setSound(sound.id, buffer);
  sound.isLoaded = true;
}

// Takes a sound out of the player for good. A load that is under way ends.
export function dropSound(sound) {
  sound.use ??= new AbortController();
  sound.use.abort();
  sound.isLoaded = false;
  player.removeSound(sound.id);
}

// Ends the job that runs; the service forgets it.
export async function cancel() {
  if (!work) return;
  const {controller, take, job} = work;
  controller.abort();
  if (job) {
    await deleteJob(job.id).catch((fault) => showProblem(fault));
    await dropJob(take, job.id);
  }
  const growing = (get('takes') ?? []).filter((sound) => sound.isGrowing);
  set('takes', (get('takes') ?? []).filter((sound) => !sound.isGrowing));
  for (const sound of growing) player.removeSound(sound.id);
  announce('Cancelled.');
}

// Finds the sounds of a take's earlier jobs again, and follows the one that still runs. Those that failed, and those
// that the service has dropped, are gone.
export async function restoreJobs(take) {
  let running = null;
  for (const kept of [...take.jobs]) {
    try {
      const job = await getJob(kept.id);
      if (job.status === 'done') await addResults(kept, job, false);
      else if (isFinal(job)) await dropJob(take, kept.id);
      else running = {kept, job};
    } catch (fault) {
      if (fault.status === 404 || fault.status === 410) await dropJob(take, kept.id);
    }
    if (!isCurrent(take)) return;
  }
  if (running && !work) resume(take, running);
}

function resume(take, {kept, job}) {
  return working(take, () => resume(take, {kept, job}), () => {
    work.job = job;
    return run(take, kept, job);
  });
}

// Removes a take from the service: its jobs, its recording, clips and tracks. The browser's copy: database.js.
export async function forget(take) {
  for (const job of take.jobs) await deleteJob(job.id);
  const uploads = [take.upload?.id, ...(take.sounds ?? [])].filter(Boolean);
  for (const id of new Set(uploads)) await deleteUpload(id);
}
