// Runs in the page before its own scripts: keeps what reaches the speakers, so that a test can tell what is heard.
(() => {
  const connect = AudioNode.prototype.connect;
  const taps = new Map();
  AudioNode.prototype.connect = function(target, ...others) {
    if (target instanceof AudioDestinationNode && this.context instanceof AudioContext) {
      if (!taps.has(this.context)) taps.set(this.context, new AnalyserNode(this.context, {fftSize: 8192}));
      connect.call(this, taps.get(this.context));
    }
    return connect.call(this, target, ...others);
  };

  function lastSamples(tap) {
    const samples = new Float32Array(tap.fftSize);
    tap.getFloatTimeDomainData(samples);
    return samples;
  }
  const power = (samples) => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

  // The frequency whose period repeats best, between 50 and 1500 Hz; the shortest of equally good periods.
  function pitchOf(samples, rate) {
    const size = Math.floor(samples.length / 2);
    const shortest = Math.floor(rate / 1500), longest = Math.min(size, Math.floor(rate / 50));
    const match = new Float32Array(longest + 1);
    for (let lag = shortest; lag <= longest; ++lag) {
      let product = 0, one = 1e-9, other = 1e-9;
      for (let i = 0; i < size; ++i) {
        product += samples[i] * samples[i + lag];
        one += samples[i] * samples[i];
        other += samples[i + lag] * samples[i + lag];
      }
      match[lag] = product / Math.sqrt(one * other);
    }
    const best = Math.max(...match.slice(shortest));
    for (let lag = shortest + 1; lag < longest; ++lag) {
      if (match[lag] < best * 0.93 || match[lag] < match[lag - 1] || match[lag] < match[lag + 1]) continue;
      const bend = match[lag - 1] - 2 * match[lag] + match[lag + 1];
      return rate / (lag + 0.5 * (match[lag - 1] - match[lag + 1]) / (bend || 1));
    }
    return 0;
  }

  // What is heard now: the level (root mean square) and the pitch in Hz of the loudest context.
  window.heardNow = () => {
    let heard = {level: 0, hz: 0};
    for (const [context, tap] of taps) {
      const samples = lastSamples(tap);
      const level = power(samples);
      if (level > heard.level) heard = {level, hz: level > 1e-3 ? pitchOf(samples.slice(-4096), context.sampleRate) : 0};
    }
    return heard;
  };

  // The pitch of a sound file of the service in the middle of [from_s, to_s].
  window.pitchOfFile = async (url, from_s, to_s) => {
    const bytes = await (await fetch(url)).arrayBuffer();
    const sound = await new OfflineAudioContext(1, 1, 44100).decodeAudioData(bytes);
    const middle = Math.floor((from_s + to_s) / 2 * 44100);
    return pitchOf(sound.getChannelData(0).slice(middle - 2048, middle + 2048), 44100);
  };
})();
