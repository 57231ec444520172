// Turns files into samples and samples into files: decoding, WAVs for uploads, shapes for pictures, growing streams.
import {isCancelled, request} from './api.js';
import {kRate_hz, player} from './player.js';
import {decodeFrames, encodeWav, readHead} from './wav.js';

const kUploadBytesMax = 90e6;
const kPieceSeconds = 0.1, kFirstPieceSeconds = 0.3;

// Throws if the browser cannot decode the file.
export async function decode(blob) {
  return new OfflineAudioContext(1, 1, kRate_hz).decodeAudioData(await blob.arrayBuffer());
}

export const channelsOf = (buffer) => Array.from({length: buffer.numberOfChannels}, (_, i) => buffer.getChannelData(i));

export function mixToMono(channels) {
  if (channels.length === 1) return channels[0];
  const mixed = new Float32Array(channels[0].length);
  for (const channel of channels) {
    for (let frame = 0; frame < mixed.length; ++frame) mixed[frame] += channel[frame] / channels.length;
  }
  return mixed;
}

// 16-bit WAV with all channels: the service mixes them better (opposite phases). Mono if it would be too long.
export function wavOf(buffer) {
  const channels = channelsOf(buffer);
  const isLong = buffer.length * channels.length * 2 > kUploadBytesMax;
  return encodeWav(isLong ? [mixToMono(channels)] : channels, buffer.sampleRate);
}

export function bufferOf(channels, rate_hz) {
  const buffer = new AudioBuffer({length: channels[0].length, numberOfChannels: channels.length, sampleRate: rate_hz});
  channels.forEach((samples, i) => buffer.copyToChannel(samples, i));
  return buffer;
}

// The sound shifted by offset_s: later with silence before it, or earlier without its start.
export function shifted(buffer, offset_s) {
  const frames = Math.round(offset_s * buffer.sampleRate);
  const move = (channel) => {
    if (frames <= 0) return channel.slice(-frames);
    const moved = new Float32Array(channel.length + frames);
    moved.set(channel, frames);
    return moved;
  };
  return bufferOf(channelsOf(buffer).map(move), buffer.sampleRate);
}

// The largest size of the samples in each of `count` equal parts.
export function peaksOf(samples, count) {
  const peaks = new Float32Array(count);
  const width = samples.length / count;
  for (let i = 0; i < count; ++i) {
    const end = Math.min(samples.length, Math.ceil((i + 1) * width));
    for (let at = Math.floor(i * width); at < end; ++at) peaks[i] = Math.max(peaks[i], Math.abs(samples[at]));
  }
  return peaks;
}

// Bytes that come in any sizes, taken as whole frames.
class FrameQueue {
  #bytes = new Uint8Array(0);

  push(more) {
    const all = new Uint8Array(this.#bytes.length + more.length);
    all.set(this.#bytes);
    all.set(more, this.#bytes.length);
    this.#bytes = all;
  }

  // The head, once it is complete; it is taken off.
  takeHead() {
    const head = readHead(this.#bytes);
    if (head) this.#bytes = this.#bytes.slice(head.dataAt);
    return head;
  }

  // Whole frames if there are at least that many, else null.
  take(frames, head) {
    const width = head.channels * head.bits / 8;
    const count = Math.floor(this.#bytes.length / width);
    if (count < Math.max(1, frames)) return null;
    const taken = this.#bytes.slice(0, count * width);
    this.#bytes = this.#bytes.slice(count * width);
    return decodeFrames(taken, head);
  }
}

// Fetches a WAV that is still being made and lets the player's sound `id` grow with it. onFirst: when it can be heard.
// Throws a Problem while there is no stream. Not an audio element: Safari's needs to know the length.
export async function streamInto(id, url, onFirst, signal) {
  const answer = await request('GET', url, {signal});
  const queue = new FrameQueue();
  let head = null;
  let isFirst = true;
  const deliver = (leastSeconds) => {
    head ??= queue.takeHead();
    const frames = head && queue.take(Math.ceil(leastSeconds * head.rate_hz), head);
    if (!frames) return;
    player.grow(id, bufferOf(frames, head.rate_hz));
    if (isFirst) onFirst();
    isFirst = false;
  };
  player.openSound(id);
  try {
    for (const reader = answer.body.getReader();;) {
      const {value, done} = await reader.read();
      if (done) break;
      queue.push(value);
      deliver(isFirst ? kFirstPieceSeconds : kPieceSeconds);
    }
    deliver(0);
  } catch (fault) {
    if (!isCancelled(fault)) throw fault;
  } finally {
    player.closeSound(id);
  }
}
