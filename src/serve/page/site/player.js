// Plays sounds in step, so that a person can compare them at the same place: one at a time (A/B), or several with levels
// (stems), over an optional backing track. A sound may still grow while it plays.

export const kRate_hz = 44100;
const kFade_s = 0.015;
const kLead_s = 0.04;
const kMelodyLevel_db = -20, kPeakMax = 0.95;

// The gain that brings a recording to a usual level, so that A/B compares sounds, not levels.
export function matchingGain(samples) {
  let peak = 0, power = 0, loud = 0;
  for (const sample of samples) {
    const size = Math.abs(sample);
    peak = Math.max(peak, size);
    if (size > 0.001) {
      power += sample * sample;
      ++loud;
    }
  }
  if (loud === 0) return 1;
  return Math.min(10 ** (kMelodyLevel_db / 20) / Math.sqrt(power / loud), kPeakMax / peak);
}

// One sound while it plays: a gain, and a source for each of its pieces.
class Voice {
  constructor(context, destination, level) {
    this.context = context;
    this.sources = [];
    this.gain = new GainNode(context, {gain: 0});
    this.gain.connect(destination);
    this.setLevel(level);
  }

  setLevel(level) {
    this.gain.gain.cancelScheduledValues(0);
    this.gain.gain.setTargetAtTime(level, this.context.currentTime, kFade_s / 3);
  }

  // The piece begins at the context's time at_s, which may have passed.
  schedule(buffer, at_s) {
    const late_s = Math.max(0, this.context.currentTime + 0.005 - at_s);
    if (late_s >= buffer.duration) return;
    const source = new AudioBufferSourceNode(this.context, {buffer});
    source.connect(this.gain);
    source.start(at_s + late_s, late_s);
    this.sources.push(source);
  }

  end() {
    this.setLevel(0);
    for (const source of this.sources) source.stop(this.context.currentTime + kFade_s * 2);
    setTimeout(() => this.gain.disconnect(), kFade_s * 5000);
  }
}

// Events: "change" (what plays, or whether), "time" (while it plays).
export class Player extends EventTarget {
  #sounds = new Map();  // id -> {pieces: [{start_s, buffer}], seconds, gain, grows}
  #levels = new Map();  // id -> 0..1
  #voices = new Map();
  #zero_s = 0;          // the context's time of position 0, while it plays
  #rest_s = 0;          // the position while it rests
  #backing = null;      // {buffer, offset_s, level}
  isPlaying = false;

  // Opened by the first click, because browsers allow no sound before: see dock.js.
  get context() {
    this.opened ??= new AudioContext({sampleRate: kRate_hz});
    if (this.opened.state === 'suspended') this.opened.resume();
    return this.opened;
  }

  setSound(id, buffer, gain = 1) {
    this.#sounds.set(id, {pieces: [{start_s: 0, buffer}], seconds: buffer.duration, gain, grows: false});
    if (this.isPlaying && this.#levels.has(id)) this.#restartVoice(id);
    this.#changed();
  }

  // A sound that grow() continues and setSound() completes.
  openSound(id) {
    this.#sounds.set(id, {pieces: [], seconds: 0, gain: 1, grows: true});
    this.#changed();
  }

  grow(id, buffer) {
    const sound = this.#sounds.get(id);
    if (!sound?.grows) return;  // complete already
    const piece = {start_s: sound.seconds, buffer};
    const starved = this.isPlaying && this.position >= sound.seconds;
    sound.pieces.push(piece);
    sound.seconds += buffer.duration;
    const voice = this.#voices.get(id);
    if (!voice) return;
    if (starved) this.#setZero(this.context.currentTime + kLead_s - piece.start_s);
    voice.schedule(buffer, this.#zero_s + piece.start_s);
  }

  closeSound(id) {
    if (this.#sounds.has(id)) this.#sounds.get(id).grows = false;
  }

  removeSound(id) {
    this.#voices.get(id)?.end();
    this.#voices.delete(id);
    this.#sounds.delete(id);
    this.#levels.delete(id);
    this.#changed();
  }

  has(id) {
    return this.#sounds.has(id);
  }

  // Which sounds are heard: {id: level}.
  mix(levels) {
    this.#levels = new Map(Object.entries(levels));
    for (const [id, voice] of this.#voices) {
      if (this.#levels.has(id)) continue;
      voice.end();
      this.#voices.delete(id);
    }
    for (const id of this.#levels.keys()) {
      const voice = this.#voices.get(id);
      if (voice) voice.setLevel(this.#levelOf(id));
      else if (this.isPlaying) this.#startVoice(id);
    }
    this.#changed();
  }

  get selected() {
    return [...this.#levels.keys()];
  }

  get seconds() {
    return this.selected.reduce((end, id) => Math.max(end, this.#sounds.get(id)?.seconds ?? 0), 0);
  }

  get grows() {
    return this.selected.some((id) => this.#sounds.get(id)?.grows);
  }

  // Seconds from the start. It waits at the end of a sound that still grows.
  get position() {
    if (!this.isPlaying) return this.#rest_s;
    const now = Math.max(0, this.context.currentTime - this.#zero_s);
    return Math.min(now, this.seconds);
  }

  // {buffer, offset_s: how much later the backing starts than the sounds, level}, or null.
  setBacking(backing) {
    this.#backing = backing;
    this.#voices.get('backing')?.end();
    this.#voices.delete('backing');
    if (this.isPlaying) this.#startBacking();
  }

  play(from_s = this.#rest_s) {
    this.#silence();
    const start_s = from_s >= this.seconds && !this.grows ? 0 : from_s;
    this.#setZero(this.context.currentTime + kLead_s - start_s);
    this.isPlaying = true;
    for (const id of this.#levels.keys()) this.#startVoice(id);
    this.#startBacking();
    this.#changed();
    this.#tick();
  }

  pause() {
    if (!this.isPlaying) return;
    this.#rest_s = this.position;
    this.isPlaying = false;
    this.#silence();
    this.#changed();
  }

  seek(position_s) {
    this.#rest_s = Math.max(0, position_s);
    if (this.isPlaying) this.play(this.#rest_s);
    this.dispatchEvent(new Event('time'));
  }

  // Whole samples, so that pieces meet without a gap.
  #setZero(time_s) {
    this.#zero_s = Math.round(time_s * kRate_hz) / kRate_hz;
  }

  #levelOf(id) {
    return (this.#levels.get(id) ?? 0) * (this.#sounds.get(id)?.gain ?? 1);
  }

  #startVoice(id) {
    const sound = this.#sounds.get(id);
    if (!sound) return;
    const voice = new Voice(this.context, this.context.destination, this.#levelOf(id));
    for (const piece of sound.pieces) voice.schedule(piece.buffer, this.#zero_s + piece.start_s);
    this.#voices.set(id, voice);
  }

  #restartVoice(id) {
    this.#voices.get(id)?.end();
    this.#startVoice(id);
  }

  #startBacking() {
    if (!this.#backing) return;
    const voice = new Voice(this.context, this.context.destination, this.#backing.level);
    voice.schedule(this.#backing.buffer, this.#zero_s + this.#backing.offset_s);
    this.#voices.set('backing', voice);
  }

  #silence() {
    for (const voice of this.#voices.values()) voice.end();
    this.#voices.clear();
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }

  #tick() {
    if (!this.isPlaying) return;
    if (this.position >= this.seconds && !this.grows) {
      this.pause();
      this.#rest_s = 0;
    } else {
      requestAnimationFrame(() => this.#tick());
    }
    this.dispatchEvent(new Event('time'));
  }
}

// The one of this page.
export const player = new Player();
