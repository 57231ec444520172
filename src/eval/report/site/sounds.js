// Plays one of several sounds in a loop and switches between them at the same place, as ITU-R BS.1534-3 asks (5.3):
// loops and switches fade out and in for 5 ms along a raised cosine, one after the other.
//
// A page that is opened from a disk may not read the files beside it, but it may run scripts beside it. So each sound
// "sounds/a.flac" has a twin "sounds/a.js", which hands the same bytes to humSound().
'use strict';

const kRate_hz = 22050;  // of the sounds, so that decoding changes nothing
const kFade_s = 0.005;
const kLead_s = 0.02;  // between a click and the first sample
const kFadeIn = Float32Array.from({length: 65}, (_, i) => 0.5 - 0.5 * Math.cos(Math.PI * i / 64));
const kFadeOut = kFadeIn.toReversed();

const waiting = new Map();  // path -> what takes the sound's bytes
const loading = new Map();  // path -> promise of an AudioBuffer
let output = null;

// Opened by the first click or key, because browsers allow no sound before.
function openOutput() {
  output ??= new AudioContext({sampleRate: kRate_hz});
  if (output.state === 'suspended') output.resume();
  return output;
}

// The twins of sounds call it.
function humSound(path, base64) {
  waiting.get(path)?.(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);
}

function bytesOf(path) {
  return new Promise((resolve, reject) => {
    waiting.set(path, resolve);
    const script = document.createElement('script');
    script.src = path.replace(/\.flac$/, '.js');
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(`${script.src} is missing: keep the folder of the report together`));
    document.head.append(script);
  });
}

function loadSound(path) {
  if (!loading.has(path)) {
    loading.set(path, bytesOf(path)
        .then((bytes) => new OfflineAudioContext(1, 1, kRate_hz).decodeAudioData(bytes))
        .finally(() => loading.delete(path)));
  }
  return loading.get(path);
}

// A copy with this gain and length, and with fades at both ends.
function loopOf(sound, length, gain_db) {
  const buffer = new AudioBuffer({length, sampleRate: kRate_hz});
  const samples = buffer.getChannelData(0);
  const gain = 10 ** (gain_db / 20);
  samples.set(sound.getChannelData(0).map((sample) => gain * sample));
  const fade = Math.round(kFade_s * kRate_hz);
  for (let i = 0; i < fade; ++i) {
    const share = 0.5 - 0.5 * Math.cos(Math.PI * i / fade);
    samples[i] *= share;
    samples[length - 1 - i] *= share;
  }
  return buffer;
}

// Events: "change" (what is selected, or whether it plays), "time" (while it plays).
class Looper extends EventTarget {
  #loops = new Map();   // id -> AudioBuffer
  #voices = new Map();  // id -> {source, fader}, while it plays: all run in step, and one is heard
  #zero_s = 0;          // the output's time of position 0, while it plays
  #rest_s = 0;          // the position while it rests
  #free_s = 0;          // the output's time when the last fade ends
  #loads = 0;
  selected = null;
  isPlaying = false;
  seconds = 0;

  // list: [{id, path, gain_db}]. Shorter sounds end in silence.
  async load(list) {
    const number = ++this.#loads;
    this.pause();
    this.#loops.clear();
    const decoded = await Promise.all(list.map((sound) => loadSound(sound.path)));
    if (number !== this.#loads) return;  // others are wanted by now
    const length = Math.max(...decoded.map((sound) => sound.length));
    this.#loops = new Map(list.map((sound, i) => [sound.id, loopOf(decoded[i], length, sound.gain_db)]));
    this.seconds = length / kRate_hz;
    this.#rest_s = 0;
    this.#report('time');
  }

  select(id) {
    if (id === this.selected) return;
    if (this.isPlaying) {
      const switch_s = Math.max(output.currentTime, this.#free_s);
      this.#fade(this.selected, kFadeOut, switch_s);
      this.#fade(id, kFadeIn, switch_s + kFade_s);
    }
    this.selected = id;
    this.#report('change');
  }

  // Seconds from the start.
  get position() {
    if (!this.isPlaying) return this.#rest_s;
    return Math.max(0, output.currentTime - this.#zero_s) % this.seconds;
  }

  play() {
    if (this.isPlaying || this.#loops.size === 0) return;
    const start_s = openOutput().currentTime + kLead_s;
    this.#zero_s = start_s - this.#rest_s;
    for (const [id, buffer] of this.#loops) {
      const source = new AudioBufferSourceNode(output, {buffer, loop: true});
      const fader = new GainNode(output, {gain: 0});
      source.connect(fader).connect(output.destination);
      source.start(start_s, this.#rest_s);
      this.#voices.set(id, {source, fader});
    }
    this.isPlaying = true;
    this.#fade(this.selected, kFadeIn, start_s);
    this.#report('change');
    this.#tick();
  }

  pause() {
    if (!this.isPlaying) return;
    this.#rest_s = this.position;
    const end_s = Math.max(output.currentTime, this.#free_s);
    this.#fade(this.selected, kFadeOut, end_s);
    for (const {source, fader} of this.#voices.values()) {
      source.onended = () => fader.disconnect();
      source.stop(end_s + kFade_s);
    }
    this.#voices.clear();
    this.isPlaying = false;
    this.#report('change');
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  seek(position_s) {
    const wasPlaying = this.isPlaying;
    this.pause();
    this.#rest_s = Math.max(0, position_s) % (this.seconds || 1);
    if (wasPlaying) this.play();
    else this.#report('time');
  }

  #fade(id, curve, at_s) {
    this.#voices.get(id)?.fader.gain.setValueCurveAtTime(curve, at_s, kFade_s);
    this.#free_s = at_s + kFade_s;
  }

  #report(what) {
    this.dispatchEvent(new Event(what));
  }

  #tick() {
    if (!this.isPlaying) return;
    this.#report('time');
    requestAnimationFrame(() => this.#tick());
  }
}

// The button, the slider and the clock of a looper. `play` is called for a click on the button.
class Transport {
  constructor(root, looper, play) {
    this.button = root.querySelector('.play');
    this.slider = root.querySelector('.position');
    this.clock = root.querySelector('.clock');
    this.looper = looper;
    this.button.addEventListener('click', play);
    this.slider.addEventListener('input', () => looper.seek(Number(this.slider.value)));
    looper.addEventListener('change', () => this.#show());
    looper.addEventListener('time', () => this.#showTime());
    root.querySelector('.transport').hidden = false;
    this.#show();
  }

  #show() {
    this.button.setAttribute('aria-label', this.looper.isPlaying ? 'Pause' : 'Play');
    this.button.classList.toggle('is-playing', this.looper.isPlaying);
    this.#showTime();
  }

  #showTime() {
    const {position, seconds} = this.looper;
    const text = seconds > 0 ? `${position.toFixed(1)} of ${seconds.toFixed(1)} s` : '';
    this.slider.max = Math.max(0.01, seconds);
    this.slider.value = position;
    this.slider.setAttribute('aria-valuetext', text);
    this.clock.textContent = text;
  }
}

// The number of a key from 0 to 9 without others, else -1.
function digitOf(event) {
  const isAlone = !event.ctrlKey && !event.metaKey && !event.altKey;
  return isAlone && /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
}

// Whether the key is the space bar, and nothing that it would press has the focus.
function isSpace(event) {
  return event.key === ' ' && !event.target.closest('button, summary, a, input[type=text]');
}
