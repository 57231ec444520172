// Reads and writes WAV files: 16-bit ones for uploads, the head and samples of a stream that is still growing.

const ascii = (bytes, at) => String.fromCharCode(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);

// Channels are Float32Arrays of one length. Values beyond -1..1 are clipped.
export function encodeWav(channels, rate_hz) {
  const frames = channels[0].length;
  const dataBytes = frames * channels.length * 2;
  const view = new DataView(new ArrayBuffer(44 + dataBytes));
  const text = (at, word) => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, 36 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels.length, true);
  view.setUint32(24, rate_hz, true);
  view.setUint32(28, rate_hz * channels.length * 2, true);
  view.setUint16(32, channels.length * 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  let at = 44;
  for (let frame = 0; frame < frames; ++frame) {
    for (const channel of channels) {
      const sample = Math.max(-1, Math.min(1, channel[frame]));
      view.setInt16(at, Math.round(sample * 32767), true);
      at += 2;
    }
  }
  return new Blob([view], {type: 'audio/wav'});
}

// The format of a WAV file whose first bytes are here, or null if its head is not complete yet. Throws if it is none.
// {channels, rate_hz, bits, isFloat, dataAt}; the samples begin at byte dataAt.
export function readHead(bytes) {
  if (bytes.length < 12) return null;
  if (ascii(bytes, 0) !== 'RIFF' || ascii(bytes, 8) !== 'WAVE') throw new Error('The sound is not a WAV file.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format = null;
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = ascii(bytes, at);
    const size = view.getUint32(at + 4, true);
    if (name === 'data') {
      if (!format) throw new Error('The sound has no format.');
      return {...format, dataAt: at + 8};
    }
    if (at + 8 + size > bytes.length) return null;
    if (name === 'fmt ') format = readFormat(view, at + 8, size);
    at += 8 + size + (size % 2);
  }
  return null;
}

function readFormat(view, at, size) {
  const kExtensible = 0xfffe;
  let kind = view.getUint16(at, true);
  if (kind === kExtensible && size >= 26) kind = view.getUint16(at + 24, true);
  const format = {
    channels: view.getUint16(at + 2, true),
    rate_hz: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
    isFloat: kind === 3,
  };
  const known = format.isFloat ? [32] : [16, 24];
  if (!known.includes(format.bits) || format.channels < 1) throw new Error('The samples have an unknown format.');
  return format;
}

// Whole frames as one Float32Array per channel.
export function decodeFrames(bytes, format) {
  const width = format.bits / 8;
  const frames = Math.floor(bytes.length / (width * format.channels));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const channels = Array.from({length: format.channels}, () => new Float32Array(frames));
  let at = 0;
  for (let frame = 0; frame < frames; ++frame) {
    for (const channel of channels) {
      channel[frame] = readSample(view, at, format);
      at += width;
    }
  }
  return channels;
}

function readSample(view, at, format) {
  if (format.isFloat) return view.getFloat32(at, true);
  if (format.bits === 16) return view.getInt16(at, true) / 32768;
  return ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8388608;
}
