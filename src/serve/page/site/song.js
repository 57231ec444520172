// A song on the service: it is sent, split into stems, and remixed. The browser keeps nothing of it.
import {deleteJob, deleteUpload, isLostUpload, kRefused, problemFrom, resultPath, startJob, upload} from './api.js';
import {durationText, fileName, numbered, titleOf} from './dom.js';
import {followJob} from './follow.js';
import {instrumentName} from './jobs.js';
import {soundOptions} from './options.js';
import {kRate_hz} from './player.js';
import {uploadOnce} from './takes.js';

const kMelodic = ['vocals', 'bass', 'lead', 'chordal', 'other'];  // stems that an instrument can play
const kLong_s = 240;

// The player's sounds of a song have such ids.
const soundId = (job, name) => `song/${job.id}/${name}`;
export const isOfSong = (id) => id.startsWith('song/');

// Does a job. One that fails or is cancelled leaves nothing on the service.
async function done(request, onJob, signal) {
  const started = await startJob(request);
  try {
    signal.throwIfAborted();
    const ended = await followJob(started, onJob, signal);
    if (ended.status !== 'done') throw problemFrom(ended.error, kRefused);
    return ended;
  } catch (fault) {
    await deleteJob(started.id).catch(() => {});
    throw fault;
  }
}

function stemOf(job, result) {
  const name = result.name.replace(/\.\w+$/, '');
  return {
    id: soundId(job, name), name, label: titleOf(name), url: resultPath(job.id, result.name),
    isMelodic: kMelodic.includes(name),
  };
}

// Sends a file and splits it. onJob: gets each state. Returns {name, seconds, upload, jobs, stems: [{id, name, label, url,
// isMelodic}], archive}. The stems are FLAC: about half of what WAV takes to fetch, and as exact.
export async function separate(file, onJob, signal) {
  const onShare = (progress) => onJob({status: 'sending', progress});
  const sent = await upload(file, 'song', {part: 'song', onShare, signal});
  try {
    const job = await done({task: 'separate', upload: sent.id, options: {format: 'flac'}}, onJob, signal);
    const stems = job.results.map((result) => stemOf(job, result));
    return {
      name: file.name, seconds: sent.seconds, upload: sent, jobs: [job.id], stems, archive: resultPath(job.id, 'all.zip'),
    };
  } catch (fault) {
    await deleteUpload(sent.id).catch(() => {});
    throw fault;
  }
}

// What mixing a long song costs: the browser holds all its stems decoded, in stereo at 32 bits. null for short songs.
export function memoryText({seconds, stems}) {
  if (!(seconds > kLong_s)) return null;
  const bytes = seconds * kRate_hz * 2 * 4 * stems.length;
  return `Mixing ${stems.length} stems of ${durationText(seconds)} takes up to ${(bytes / 1e9).toFixed(1)} GB of memory.`;
}

// Has the instrument play a stem in the song. labels: of the song's other remixes. Returns a sound as in `takes`.
export async function remix(song, stem, {preset, clip}, labels, onJob, signal) {
  const {takes: _, ...sound} = soundOptions();
  const asked = {task: 'remix', upload: song.upload.id, options: {...sound, stem: stem.name}};
  if (preset) asked.options.preset = preset;
  const begin = async () => {
    if (clip) asked.timbre = await uploadOnce(clip, clip.wav, 'timbre', signal);
    return done(asked, onJob, signal);
  };
  const job = await begin().catch((fault) => {
    if (!clip || !isLostUpload(fault)) throw fault;
    clip.upload = null;  // the service has dropped it earlier than it said
    return begin();
  });
  song.jobs.push(job.id);
  const label = numbered(`${stem.label} on ${instrumentName({preset, clip}).toLowerCase()}`, labels);
  const saved = fileName(label);
  const fileOf = (name, label) =>
      ({label, url: resultPath(job.id, name), saved: saved + name.slice(name.lastIndexOf('.'))});
  return {
    id: soundId(job, 'remix'), label, url: resultPath(job.id, 'remix.wav'),
    files: [fileOf('remix.wav', 'WAV'), fileOf('remix.mp3', 'MP3'), fileOf('melody.mid', 'MIDI')],
  };
}

// Removes the song, its stems and its remixes from the service. A job that cannot be removed does not stop the rest.
export async function forgetSong(song) {
  await Promise.allSettled(song.jobs.map((id) => deleteJob(id)));
  await deleteUpload(song.upload.id);
}
