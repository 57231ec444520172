// The calls of the service. Errors are Problems, with a sentence that says what to do.
import {csrfHeaders, logIn, renewSession} from './session.js';

// An answer that is an error (application/problem+json), or no answer at all (status 0).
export class Problem extends Error {
  constructor(status, title, detail, retryAfter_s = 0) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.retryAfter_s = retryAfter_s;
  }
}

// A random name for a request, so that a repeated one does not count twice.
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const kWaits_ms = [500, 2000, 5000];

export const cancelled = () => new DOMException('The person has cancelled.', 'AbortError');
export const isCancelled = (fault) => fault?.name === 'AbortError';

// Throws AbortError when `signal` ends it.
export const wait = (time_ms, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, time_ms);
  signal?.addEventListener('abort', () => {
    clearTimeout(timer);
    fail(cancelled());
  }, {once: true});
});

function unreachable() {
  return new Problem(0, 'The service does not answer',
                     'The service does not answer. Nothing is lost: check that "hum serve" is running and that you are ' +
                         'connected, then try again.');
}

const sentence = (text) => text && `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

export const kRefused = 422;  // the status of what a job refuses only when it runs

// A Problem of {title, detail, hint}: what happened, then what to do.
export function problemFrom(body, status = 0, retryAfter_s = 0) {
  const again = retryAfter_s > 0 && `Try again in ${retryAfter_s} s.`;
  const parts = [sentence(body?.detail), sentence(body?.hint), again].filter(Boolean);
  return new Problem(status, sentence(body?.title)?.slice(0, -1) ?? `The service answered ${status}`, parts.join(' '),
                     retryAfter_s);
}

function problemOf(status, text, headers) {
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may answer with something else; the status still says what happened.
  }
  return problemFrom(body, status, Number(headers('Retry-After')) || 0);
}

// Whether a job was refused because the service has no longer one of its uploads.
export const isLostUpload = (fault) => [404, 410, 422].includes(fault?.status) && fault.message.includes('upload');

// Runs a call, and once more if the service did not know the person (401) or knew another session (403) and now does.
async function knownAs(action) {
  try {
    return await action();
  } catch (fault) {
    const isKnown = fault.status === 401 ? await logIn() : fault.status === 403 && (await renewSession());
    if (!isKnown) throw fault;
    return action();
  }
}

// Throws a Problem for an answer that is an error. `signal` may end it early (AbortError).
export function request(method, path, options = {}) {
  return knownAs(() => send(method, path, options));
}

async function send(method, path, {body, headers = {}, signal}) {
  let answer;
  try {
    const all = method === 'GET' ? headers : {...headers, ...csrfHeaders()};
    answer = await fetch(path, {method, body, headers: all, signal, credentials: 'same-origin', cache: 'no-store'});
  } catch (fault) {
    if (isCancelled(fault)) throw fault;
    throw unreachable();
  }
  if (!answer.ok) throw problemOf(answer.status, await answer.text(), (name) => answer.headers.get(name));
  return answer;
}

// Repeats `action` while the service cannot be reached or is starting. Only for calls that may be repeated.
async function persistently(action, signal) {
  for (const wait_ms of kWaits_ms) {
    try {
      return await action();
    } catch (fault) {
      if (!(fault instanceof Problem) || (fault.status !== 0 && fault.status !== 503)) throw fault;
      await wait(Math.max(wait_ms, fault.retryAfter_s * 1000), signal);
    }
  }
  return action();
}

export async function getJson(path, signal) {
  return (await request('GET', path, {signal})).json();
}

export async function getBytes(path, signal) {
  return (await request('GET', path, {signal})).arrayBuffer();
}

// Sends a file. fetch() tells nothing about how much is sent, XMLHttpRequest does. part: "audio" for a recording,
// "timbre" for a clip, "backing" for a track and "song" for a song, which stay in stereo. Returns {id, seconds, expires}.
// Throws AbortError when `signal` ends it.
export function upload(file, name, {part = 'audio', onShare = () => {}, signal} = {}) {
  const key = randomKey();
  return persistently(() => knownAs(() => new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const form = new FormData();
    form.append(part, file, name);
    const call = new XMLHttpRequest();
    call.open('POST', '/v1/uploads');
    for (const [header, value] of Object.entries({'Idempotency-Key': key, ...csrfHeaders()})) {
      call.setRequestHeader(header, value);
    }
    call.upload.onprogress = (event) => onShare(event.lengthComputable ? event.loaded / event.total : 0);
    call.onerror = () => reject(unreachable());
    call.onload = () => {
      if (call.status >= 200 && call.status < 300) resolve(JSON.parse(call.responseText));
      else reject(problemOf(call.status, call.responseText, (header) => call.getResponseHeader(header)));
    };
    signal?.addEventListener('abort', () => {
      call.abort();
      reject(cancelled());
    }, {once: true});
    call.send(form);
  })), signal);
}

// Starts a job: {task, upload, timbre, backing, notes, options}. Returns the job.
export function startJob(job) {
  const headers = {'Content-Type': 'application/json', 'Idempotency-Key': randomKey()};
  const body = JSON.stringify(job);
  return persistently(async () => (await request('POST', '/v1/jobs', {body, headers})).json());
}

export const jobPath = (id) => `/v1/jobs/${encodeURIComponent(id)}`;
export const resultPath = (id, name) => `${jobPath(id)}/results/${encodeURIComponent(name)}`;
export const getJob = (id, signal) => getJson(jobPath(id), signal);

// Removes something from the service. What is gone already is no error.
async function remove(path) {
  try {
    await request('DELETE', path);
  } catch (fault) {
    if (!(fault instanceof Problem) || (fault.status !== 404 && fault.status !== 410)) throw fault;
  }
}

// Ends a job and removes it.
export const deleteJob = (id) => remove(jobPath(id));
export const deleteUpload = (id) => remove(`/v1/uploads/${encodeURIComponent(id)}`);

export async function getPresets() {
  const presets = await persistently(() => getJson('/v1/presets'));
  return presets.presets ?? presets;
}

// The stems that the service makes of a song; none: it cannot.
export const getStems = async () => (await persistently(() => getJson('/v1/stems'))).stems;

// The sound of a preset. The service plays it when somebody asks for it the first time, which takes some seconds.
export async function getPresetSound(url) {
  const kTries = 60;
  for (let i = 0; i < kTries; ++i) {
    const answer = await request('GET', url).catch((fault) => {
      if (fault.status !== 503) throw fault;
      return {status: fault.status, headers: new Headers({'Retry-After': fault.retryAfter_s})};
    });
    if (answer.status === 200) return answer.arrayBuffer();
    await wait((Number(answer.headers.get('Retry-After')) || 1) * 1000);
  }
  throw new Problem(503, 'This sound is not ready', 'The service is busy. Try again in a minute.');
}

// Whether the service has a task, by its OpenAPI document.
export async function hasTask(task) {
  const text = await (await request('GET', '/openapi.json')).text();
  return text.includes(`"${task}"`);
}
