// A song on the service: it is sent, split into stems, and remixed. The browser keeps nothing of it.
import {deleteJob, deleteUpload, kRefused, problemFrom, resultPath, startJob, upload} from './api.js';
import {titleOf} from './dom.js';
import {followJob} from './follow.js';
import {instrumentName} from './jobs.js';
import {soundOptions} from './options.js';
import {isValid} from './takes.js';

const kMelodic = ['vocals', 'bass', 'lead', 'chordal', 'other'];  // stems that an instrument can play

// The player's sounds of a song have such ids.
const soundId = (job, name) => `song/${job.id}/${name}`;
export const isOfSong = (id) => id.startsWith('song/');

// Does a job. One that fails or is cancelled leaves nothing on the service.
async function done(request, onJob, signal) {
  const started = await startJob(request);
  try {
    const ended = await followJob(started, onJob, signal);
    if (ended.status !== 'done') throw problemFrom(ended.error, kRefused);
    return ended;
  } catch (fault) {
    await deleteJob(started.id).catch(() => {});
    throw fault;
  }
}

function stemOf(job, result) {
  const name = result.name.replace(/\.wav$/, '');
  return {
    id: soundId(job, name), name, label: titleOf(name), url: resultPath(job.id, result.name),
    isMelodic: kMelodic.includes(name),
  };
}

// Sends a file and splits it. onJob: gets each state. Returns {name, upload, jobs, stems: [{id, name, label, url,
// isMelodic}], archive}.
export async function separate(file, onJob, signal) {
  const onShare = (progress) => onJob({status: 'sending', progress});
  const sent = await upload(file, 'song', {part: 'song', onShare});
  try {
    signal.throwIfAborted();
    const job = await done({task: 'separate', upload: sent.id}, onJob, signal);
    const stems = job.results.map((result) => stemOf(job, result));
    return {name: file.name, upload: sent, jobs: [job.id], stems, archive: resultPath(job.id, 'all.zip')};
  } catch (fault) {
    await deleteUpload(sent.id).catch(() => {});
    throw fault;
  }
}

// Has the instrument play a stem in the song. Returns a sound as in `takes`.
export async function remix(song, stem, {preset, clip}, onJob, signal) {
  const {takes: _, ...sound} = soundOptions();
  const asked = {task: 'remix', upload: song.upload.id, options: {...sound, stem: stem.name}};
  if (preset) asked.options.preset = preset;
  if (clip) {
    if (!isValid(clip.upload)) clip.upload = await upload(clip.wav, 'sound.wav', {part: 'timbre'});
    asked.timbre = clip.upload.id;
    signal.throwIfAborted();
  }
  const job = await done(asked, onJob, signal);
  song.jobs.push(job.id);
  const label = `${stem.label} on ${instrumentName({preset, clip}).toLowerCase()}`;
  const saved = `hum-${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  const fileOf = (name, label) =>
      ({label, url: resultPath(job.id, name), saved: saved + name.slice(name.lastIndexOf('.'))});
  return {
    id: soundId(job, 'remix'), label, url: resultPath(job.id, 'remix.wav'),
    files: [fileOf('remix.wav', 'WAV'), fileOf('remix.mp3', 'MP3'), fileOf('melody.mid', 'MIDI')],
  };
}

// Removes the song, its stems and its remixes from the service.
export async function forgetSong(song) {
  for (const id of song.jobs) await deleteJob(id);
  await deleteUpload(song.upload.id);
}
