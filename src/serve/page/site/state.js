// The values that the parts of the page share. A part sets a value; the parts that watch it redraw themselves.
//
//   take      the recording in work: {id, name, created, seconds, wav, upload, jobs, notes}, or null
//   stage     what the page is doing with it: "idle", "counting", "recording", "uploading", "hearing", "ready"
//   melody    its notes (melody.js), or null
//   preview   the notes as they will be played with the options of the score, or null: as they are
//   options   the options of a job, by the names of the API; only those that differ from the default
//   presets   the instruments: [{name, family, low, high, sound}]
//   timbre    the instrument: {preset} or {clip: {name, wav, seconds, upload}}
//   backing   {name, buffer, upload}, or null
//   song      a song that was split into stems (song.js), or null
//   remixes   what was played in it, as takes
//   job       the job that plays, or null
//   takes     what was played: [{id, label, job, files}], newest last

const values = new Map();
const watchers = new Map();

export const get = (name) => values.get(name) ?? null;

export function set(name, value) {
  values.set(name, value);
  for (const watcher of watchers.get(name) ?? []) watcher(value);
}

// Calls `watcher` whenever one of the names (separated by spaces) is set.
export function watch(names, watcher) {
  for (const name of names.split(' ')) {
    if (!watchers.has(name)) watchers.set(name, []);
    watchers.get(name).push(watcher);
  }
}
