// What happens to a take: it is kept in the browser, uploaded, heard, corrected. Playing it: jobs.js.
import {deleteJob, getJob, isCancelled, isLostUpload, kRefused, problemFrom, startJob} from './api.js';
import {dropChunks, getTake, keepTake, listChunks} from './database.js';
import {announce, debounced} from './dom.js';
import {followJob} from './follow.js';
import {restoreJobs} from './jobs.js';
import {Melody} from './melody.js';
import {scoreOptions} from './options.js';
import {kRate_hz, matchingGain, player} from './player.js';
import {hideProblem, mayPass, showProblem} from './problems.js';
import {joined, recordingsInProgress} from './recorder.js';
import {bufferOf, channelsOf, decode, mixToMono, peaksOf, wavOf} from './sounds.js';
import {get, set, watch} from './state.js';
import {renderNotes} from './synth.js';
import {isCurrent, keepSoon, newTake, uploadTake} from './takes.js';
import {encodeWav} from './wav.js';

export const kPeaksPerSecond = 100;
const kLongest_s = 600;

let work = new AbortController();
let preview = new AbortController();

// A recording from the microphone.
export async function useRecording(take, samples, rate_hz) {
  take.wav = encodeWav([samples], rate_hz);
  await begin(take, bufferOf([samples], rate_hz));
}

// A sound file. The browser decodes it, so that any format that it knows works; else the service has to.
export async function useFile(file) {
  const take = newTake(file.name);
  try {
    const buffer = await decode(file);
    take.wav = wavOf(buffer);
    await begin(take, buffer);
  } catch (fault) {
    if (fault.name !== 'EncodingError') throw fault;
    take.wav = file;
    await begin(take, null);
  }
}

// Recordings that were not finished, such as after a crash. Returns the newest as a take, or null.
export async function recoverChunks() {
  const inOtherTabs = await recordingsInProgress();
  const chunks = (await listChunks()).filter((chunk) => !inOtherTabs.includes(chunk.take));
  if (chunks.length === 0) return null;
  const id = chunks.at(-1).take;
  const mine = chunks.filter((chunk) => chunk.take === id);
  const take = {...newTake('Recovered hum'), id};
  const samples = joined(mine.map((chunk) => chunk.samples));
  take.wav = encodeWav([samples], mine[0].rate_hz);
  take.seconds = samples.length / mine[0].rate_hz;
  await keepTake(take);
  for (const other of new Set(chunks.map((chunk) => chunk.take))) await dropChunks(other);
  return take;
}

// A take of the history.
export async function openTake(id) {
  const take = await getTake(id);
  if (!take) return;
  let buffer = null;
  try {
    buffer = await decode(take.wav);
  } catch {
    // Only the service can decode it: its notes are here, its sound is not.
  }
  await begin(take, buffer);
}

// buffer: its samples, or null if only the service can decode it.
async function begin(take, buffer) {
  if (buffer && buffer.duration > kLongest_s) {
    const minutes = Math.round(buffer.duration / 60);
    showProblem(new Error(`It has ${minutes} minutes. Cut it to at most 10 minutes, then choose it again.`),
                {title: 'This recording is too long'});
    return;
  }
  work.abort();
  work = new AbortController();
  hideProblem();
  player.pause();
  for (const sound of ['hum', 'notes', ...(get('takes') ?? []).map((played) => played.id)]) player.removeSound(sound);
  if (buffer) take.seconds = buffer.duration;
  for (const name of ['melody', 'preview', 'job']) set(name, null);
  set('takes', []);
  set('take', take);
  showHum(buffer);
  await keepTake(take).then(() => dropChunks(take.id)).catch(() => {
    showProblem(new Error('The browser has no room to keep this take. It is lost if you close the page.'),
                {title: 'Not kept in the browser'});
  });
  await deliver(take);
}

function showHum(buffer) {
  if (!buffer) {
    set('hum', null);
    return;
  }
  const mono = mixToMono(channelsOf(buffer));
  player.setSound('hum', buffer, matchingGain(mono));
  player.mix({hum: 1});
  set('hum', {peaks: peaksOf(mono, Math.ceil(buffer.duration * kPeaksPerSecond)), seconds: buffer.duration});
}

// Says what happens to the take, unless a new recording has begun.
const isRecording = () => ['counting', 'recording'].includes(get('stage'));
const enter = (stage) => !isRecording() && set('stage', stage);

async function deliver(take) {
  const {signal} = work;
  try {
    enter('uploading');
    await uploadTake(take);
    if (!isCurrent(take)) return;
    if (take.notes) {
      showMelody(new Melody(take.notes.notes, take.notes.heard_by !== 'basic-pitch'), take.notes);
    } else {
      enter('hearing');
      await hear(take, signal);
    }
    await restoreJobs(take);
  } catch (fault) {
    if (isCancelled(fault) || !isCurrent(take)) return;
    const title = take.upload ? 'No notes were found' : `${take.name} could not be sent`;
    take.isRefused = !take.upload && !mayPass(fault);
    keepSoon(take);
    showProblem(fault, {title, retry: () => deliver(take)});
  } finally {
    if (isCurrent(take)) enter('ready');
  }
}

// Runs a job that only finds notes. Returns them, as `hum notes --json` prints them; the job leaves nothing behind.
async function notesOf(job, signal) {
  const started = await startJob({task: 'notes', ...job});
  const stop = () => deleteJob(started.id).catch(() => {});
  try {
    const ended = await followJob(started, () => {}, signal);
    if (ended.status !== 'done') throw problemFrom(ended.error, kRefused);
    const notes = ended.notes ?? (await getJob(started.id, signal)).notes;
    return Array.isArray(notes) ? {notes} : notes;
  } finally {
    stop();
  }
}

async function hear(take, signal) {
  const heard = await notesOf({upload: take.upload.id}, signal).catch(async (fault) => {
    if (!isLostUpload(fault)) throw fault;
    await uploadTake(take, true);
    return notesOf({upload: take.upload.id}, signal);
  });
  if (!isCurrent(take)) return;
  take.notes = heard;
  keepSoon(take);
  showMelody(new Melody(heard.notes, heard.heard_by !== 'basic-pitch'), heard);
  announce(`${heard.notes.length} notes found.`);
  player.mix({notes: 1});
  await melodyRendered;
  if (isCurrent(take) && !isRecording() && get('melody')?.notes.length > 0) player.play(0);
}

let melodyRendered = Promise.resolve();

function showMelody(melody, heard) {
  set('heard', heard);
  set('melody', melody);
  melodyRendered = renderMelody();
  previewSoon();
}

// The notes as a sound of the player: as they will be played.
async function renderMelody() {
  const notes = get('preview') ?? get('melody')?.notes ?? [];
  if (notes.length === 0) return player.removeSound('notes');
  const buffer = await renderNotes(notes, kRate_hz);
  if ((get('preview') ?? get('melody')?.notes) === notes) player.setSound('notes', buffer);
}

// After a change of the melody.
export function melodyChanged() {
  const take = get('take');
  const melody = get('melody');
  take.notes = {...take.notes, notes: melody.notes};
  take.isEdited = melody.isEdited || take.isEdited;
  keepSoon(take);
  set('melody', melody);
  melodyRendered = renderMelody();
  previewSoon();
}

// Asks what tempo, grid and key make of the notes.
async function updatePreview() {
  preview.abort();
  preview = new AbortController();
  const {signal} = preview;
  const melody = get('melody');
  const options = scoreOptions();
  if (!melody || melody.notes.length === 0 || Object.keys(options).length === 0) {
    if (get('preview')) set('preview', null);
    await renderMelody();
    return;
  }
  try {
    const played = await notesOf({upload: get('take').upload?.id, notes: melody.notes, options}, signal);
    if (signal.aborted) return;
    set('preview', played.notes);
    await renderMelody();
  } catch (fault) {
    if (!isCancelled(fault)) showProblem(fault, {title: 'These options do not fit the notes'});
  }
}

const previewSoon = debounced(updatePreview, 350);
watch('options', () => previewSoon());
