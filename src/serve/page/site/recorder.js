// Records the microphone as it is: no echo cancellation, no noise suppression, no gain control. Browsers take a sustained
// hum for noise and would remove it. Each second is kept in the browser at once, so a crash loses no more than that.
import {keepChunk} from './database.js';

const kWanted = {echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1};
const kKeptEvery_s = 1;

let ready = null;

// The context that records. It is made when the page starts, so that recording works even if the service has gone since.
export function prepareRecording() {
  ready ??= (async () => {
    const context = new AudioContext();
    await context.audioWorklet.addModule('/page/capture.js');
    return context;
  })();
  ready.catch(() => (ready = null));
  return ready;
}

// What went wrong with the microphone, and what to do.
export function microphoneFault(fault) {
  if (!navigator.mediaDevices?.getUserMedia) {
    return 'Browsers give the microphone only to pages on https or localhost. Open this page there, or choose a sound file.';
  }
  if (fault.name === 'NotAllowedError') {
    return 'The browser may not use the microphone. Allow it in the address bar, then press Record again; or choose a sound file.';
  }
  if (fault.name === 'NotFoundError') {
    return 'There is no microphone. Connect one, then press Record again; or choose a sound file.';
  }
  if (fault.name === 'NotReadableError') {
    return 'Another program uses the microphone. Close it, then press Record again.';
  }
  return `The microphone does not work (${fault.message}). Choose a sound file instead.`;
}

export function joined(pieces) {
  const all = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const kLock = 'hum-recording-';

// The takes that tabs of this browser record now: their pieces are not left over.
export async function recordingsInProgress() {
  const {held} = (await navigator.locks?.query()) ?? {held: []};
  return held.filter(({name}) => name.startsWith(kLock)).map(({name}) => name.slice(kLock.length));
}

export class Recorder {
  #pieces = [];
  #unkept = [];
  #chunks = 0;
  #isCapturing = false;

  // take: the id under which the pieces are kept. onPiece(samples, seconds): while it records; onLevel(peak): always.
  constructor(take, {onPiece = () => {}, onLevel = () => {}} = {}) {
    this.take = take;
    this.onPiece = onPiece;
    this.onLevel = onLevel;
    this.seconds = 0;
  }

  // Asks for the microphone and opens it; capturing begins with start(). Throws what microphoneFault() explains.
  async open() {
    this.stream = await navigator.mediaDevices.getUserMedia({audio: kWanted});
    try {
      this.context = await prepareRecording();
      await this.context.resume();
      this.node = new AudioWorkletNode(this.context, 'capture', {numberOfOutputs: 1});
      this.node.port.onmessage = ({data}) => this.#receive(data);
      // Browsers run only what leads to the speakers. The worklet's output is silence.
      this.source = this.context.createMediaStreamSource(this.stream);
      this.source.connect(this.node).connect(this.context.destination);
    } catch (fault) {
      this.close();
      throw fault;
    }
  }

  get rate_hz() {
    return this.context.sampleRate;
  }

  start() {
    this.#isCapturing = true;
    navigator.locks?.request(kLock + this.take, () => new Promise((release) => (this.release = release)));
  }

  #receive({samples, isLast}) {
    let peak = 0;
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
    this.onLevel(peak);
    if (this.#isCapturing && samples.length > 0) {
      this.#pieces.push(samples);
      this.#unkept.push(samples);
      this.seconds += samples.length / this.rate_hz;
      if (this.seconds >= (this.#chunks + 1) * kKeptEvery_s) this.#keep();
      this.onPiece(samples, this.seconds);
    }
    if (isLast) this.finished?.();
  }

  #keep() {
    const samples = joined(this.#unkept);
    this.#unkept = [];
    // A full disk must not stop the recording: the take is in memory as well.
    keepChunk(this.take, this.#chunks++, this.rate_hz, samples).catch(() => {});
  }

  // Ends the recording. Returns all samples.
  async stop() {
    await new Promise((done) => {
      this.finished = done;
      this.node.port.postMessage('stop');
      setTimeout(done, 500);
    });
    this.#isCapturing = false;
    this.close();
    return joined(this.#pieces);
  }

  close() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.release?.();
    this.source?.disconnect();
    this.node?.disconnect();
    this.context?.suspend();
  }
}
