// A take: one recording with its notes and the jobs that played it. The browser keeps it, the service has an upload of it.
import {randomKey, upload} from './api.js';
import {keepTake} from './database.js';
import {debounced} from './dom.js';
import {get, set} from './state.js';

const kExpiryMargin_ms = 60e3;

export function newTake(name) {
  return {id: randomKey(), name, created: Date.now(), seconds: 0, wav: null, upload: null, notes: null, jobs: []};
}

// Whether the page still works on it.
export const isCurrent = (take) => get('take')?.id === take.id;

// After small changes, of which there may be many.
export const keepSoon = debounced((take) => keepTake(take).catch(() => {}), 300);

// Whether the service still has what was sent.
export const isValid = (sent) =>
    Boolean(sent) && (!sent.expires || Date.parse(sent.expires) - Date.now() > kExpiryMargin_ms);

// Makes sure that the service has a file of the person's, which owner.upload stands for. part: "timbre" or "backing".
// Returns its id.
export async function uploadOnce(owner, wav, part, signal) {
  if (!isValid(owner.upload)) owner.upload = await upload(wav, 'sound.wav', {part, signal});
  return owner.upload.id;
}

// Makes sure that the service has the recording; uploads expire.
export async function uploadTake(take, isAgain = false) {
  if (!isAgain && isValid(take.upload)) return;
  const name = take.wav.type === 'audio/wav' ? 'hum.wav' : 'hum';
  take.upload = await upload(take.wav, name, {onShare: (share) => set('uploaded', share)});
  take.seconds ||= take.upload.seconds ?? 0;
  await keepTake(take).catch(() => {});
}
