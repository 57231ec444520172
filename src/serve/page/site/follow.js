// Follows a job until it ends: by its event stream, and by asking now and then if streams do not get through.
import {cancelled, getJob, isCancelled, jobPath, Problem, request, wait} from './api.js';

const kFinal = ['done', 'failed', 'cancelled'];
export const isFinal = (job) => kFinal.includes(job.status);

const kSilence_ms = 45000;  // three pings of the service
const kFaultsBeforePolling = 3;

// Splits an event stream (text/event-stream) into {id, type, data, retry_ms}. Feed it text as it comes.
export class EventParser {
  #rest = '';
  #event = {data: []};

  // The events that this piece of text completes. A line may be split between pieces, also between \r and \n.
  feed(text) {
    this.#rest += text;
    const endsInReturn = this.#rest.endsWith('\r');
    const lines = (endsInReturn ? this.#rest.slice(0, -1) : this.#rest).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + (endsInReturn ? '\r' : '');
    return lines.map((line) => this.#take(line)).filter((event) => event);
  }

  #take(line) {
    if (line === '') return this.#finish();
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === 'data') this.#event.data.push(value ?? '');
    if (field === 'id') this.#event.id = value ?? '';
    if (field === 'event') this.#event.type = value;
    if (field === 'retry' && /^\d+$/.test(value ?? '')) this.#event.retry_ms = Number(value);
    return null;
  }

  #finish() {
    const {data, ...event} = this.#event;
    this.#event = {data: []};
    if (data.length === 0 && event.retry_ms === undefined) return null;
    return {type: 'message', ...event, data: data.join('\n')};
  }
}

// One connection to the event stream. Calls onEvent for each event; returns when the service ends the stream.
async function readEvents(id, lastId, onEvent, signal) {
  const silence = new AbortController();
  const stop = () => silence.abort();
  signal?.addEventListener('abort', stop, {once: true});
  let timer = setTimeout(stop, kSilence_ms);
  try {
    const headers = {Accept: 'text/event-stream', ...(lastId && {'Last-Event-ID': lastId})};
    const answer = await request('GET', `${jobPath(id)}/events`, {headers, signal: silence.signal});
    if (!answer.body) return;  // 204: nothing new
    const parser = new EventParser();
    const text = new TextDecoder();
    for (const reader = answer.body.getReader();;) {
      const {value, done} = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(stop, kSilence_ms);
      for (const event of parser.feed(text.decode(value, {stream: true}))) onEvent(event);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

// Calls onJob with each state of the job, and returns the last one. Throws a Problem when the job is gone, AbortError when
// `signal` ends it.
export async function followJob(job, onJob, signal) {
  let now = job;
  let lastId = '';
  let retry_ms = 1000;
  let faults = 0;
  const update = (fields) => {
    now = {...now, ...fields};
    onJob(now);
  };
  const onEvent = (event) => {
    faults = 0;
    lastId = event.id ?? lastId;
    retry_ms = event.retry_ms ?? retry_ms;
    if (event.data) update(JSON.parse(event.data));
  };
  onJob(now);
  while (!isFinal(now)) {
    if (signal?.aborted) throw cancelled();
    try {
      if (faults < kFaultsBeforePolling) await readEvents(job.id, lastId, onEvent, signal);
      if (!isFinal(now)) update(await getJob(job.id, signal));
    } catch (fault) {
      if (signal?.aborted) throw cancelled();
      const isPassing = isCancelled(fault) || !(fault instanceof Problem) || [0, 429, 502, 503, 504].includes(fault.status);
      if (!isPassing) throw fault;
    }
    ++faults;
    if (!isFinal(now)) await wait(faults > kFaultsBeforePolling ? Math.min(5000, retry_ms * 2) : retry_ms, signal);
  }
  return now;
}
