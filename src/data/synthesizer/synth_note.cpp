#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "data/synthesis/pitch_curve.h"
#include "data/synthesizer/synth_note_impl.h"
#include "data/synthesizer/wavetable_impl.h"

namespace hum::data::internal {
namespace {

constexpr int kBlock = 16;  // frames between two values of pitch, gain and cutoff
constexpr double kLfoRise_s = 0.2;
constexpr double kUsualAmplitude = 0.63;  // velocity 80
constexpr double kHighestCutoff_hz = 18000;
constexpr double kGlideExponentials = 4;
constexpr double kTwoPi = 2 * std::numbers::pi;

using Block = std::array<float, kBlock>;

// An oscillator's phase and the period that it played last.
class Oscillation {
 public:
  explicit Oscillation(Rng& rng) : phase_(rng.bits()) {}

  void add(const Oscillator& oscillator, double hz, Block& out) {
    hz *= std::exp2((oscillator.semitones + oscillator.cents / 100) / 12);
    const float* const to = wavetable(oscillator.wave).period(hz);
    const float* const from = period_ == nullptr ? to : period_;
    const bool is_pulse = oscillator.wave == Wave::kPulse;
    const uint32_t width = phase_of(oscillator.width);
    const auto level = static_cast<float>(oscillator.level);
    const auto sample = [&](const float* period) {
      const float first = read(period, phase_);
      return is_pulse ? first - read(period, phase_ + width) : first;
    };
    const uint32_t step = phase_of(hz / kSynthRate);
    for (int j = 0; j < kBlock; ++j, phase_ += step) {
      float value = sample(to);
      // The number of harmonics changes: fade from one period to the other.
      if (from != to) value += (1 - static_cast<float>(j) / kBlock) * (sample(from) - value);
      out[j] += level * value;
    }
    period_ = to;
  }

 private:
  uint32_t phase_;
  const float* period_ = nullptr;
};

// The largest index whose sidebands above Wavetable::kHighest_hz are below -60 dB. Of sideband n,
// with Bessel function J_n(index), this holds from n = index + 3 + 1.5 sqrt(index) on.
double limited_index(double index, double carrier_hz, double modulator_hz) {
  const double room = (Wavetable::kHighest_hz - carrier_hz) / modulator_hz - 2;
  if (room <= 0) return 0;
  const double root = (std::sqrt(2.25 + 4 * room) - 1.5) / 2;
  return std::min(index, root * root);
}

class Modulation {
 public:
  explicit Modulation(Rng& rng) : carrier_(rng.bits()), modulator_(rng.bits()) {}

  void add(const FmPair& pair, double hz, double since_s, Block& out) {
    const Wavetable& sine = wavetable(Wave::kSine);
    const float* const carrier = sine.period(hz * pair.carrier);
    const float* const modulator = sine.period(hz * pair.modulator);
    const double decay = std::exp(-since_s / pair.decay_s);
    const double index = limited_index(pair.index * (pair.sustain + (1 - pair.sustain) * decay),
                                       hz * pair.carrier, hz * pair.modulator);
    const auto from = static_cast<float>(index_ < 0 ? index : index_);
    const auto slope = static_cast<float>((index - from) / kBlock);
    const auto level = static_cast<float>(pair.level);
    const uint32_t carrier_step = phase_of(hz * pair.carrier / kSynthRate);
    const uint32_t modulator_step = phase_of(hz * pair.modulator / kSynthRate);
    constexpr auto kPhasePerRadian = static_cast<float>(4294967296.0 / kTwoPi);
    for (int j = 0; j < kBlock; ++j) {
      const float radians = (from + slope * static_cast<float>(j)) * read(modulator, modulator_);
      const auto moved = static_cast<uint32_t>(static_cast<int64_t>(kPhasePerRadian * radians));
      out[j] += level * read(carrier, carrier_ + moved);
      carrier_ += carrier_step;
      modulator_ += modulator_step;
    }
    index_ = index;
  }

 private:
  uint32_t carrier_, modulator_;
  double index_ = -1;  // at the end of the last block; -1: before the first
};

// Two poles, whose state survives any change of the cutoff.
// Source: Simper 2013, "Solving the continuous SVF equations using trapezoidal integration".
class LowPass {
 public:
  void run(double cutoff_hz, double resonance, Block& block) {
    const double g = std::tan(std::numbers::pi * cutoff_hz / kSynthRate);
    const double scale = 1 / (1 + g * (g + 1 / resonance));
    const auto a1 = static_cast<float>(scale);
    const auto a2 = static_cast<float>(g * scale);
    const auto a3 = static_cast<float>(g * g * scale);
    for (float& sample : block) {
      const float v3 = sample - low_;
      const float v1 = a1 * band_ + a2 * v3;
      const float v2 = low_ + a2 * band_ + a3 * v3;
      band_ = 2 * v1 - band_;
      low_ = 2 * v2 - low_;
      sample = v2;
    }
  }

 private:
  float band_ = 0, low_ = 0;
};

// One of the detuned copies.
struct Copy {
  double ratio;  // of frequencies
  float left, right;
  std::array<Oscillation, 2> oscillations;
  std::array<Modulation, 2> modulations;
};

class NotePlayer {
 public:
  NotePlayer(const SynthPreset& preset, const audio::Note& note, double glide_semitones, Rng& rng)
      : preset_(preset),
        note_(note),
        curve_(note),
        held_s_(note.end_s - note.start_s),
        glide_semitones_(preset.glide_s > 0 ? glide_semitones : 0),
        is_stereo_(preset.unison.voices > 1 && preset.unison.width > 0) {
    const int voices = std::max(1, preset.unison.voices);
    const double level = 1 / std::sqrt(voices);
    for (int i = 0; i < voices; ++i) {
      const double side = voices == 1 ? 0 : 2.0 * i / (voices - 1) - 1;  // -1..1
      const double angle = (1 + side * preset.unison.width) * std::numbers::pi / 4;
      const double ratio = std::exp2(side * preset.unison.detune_cents / 1200);
      copies_.push_back({ratio,
                         static_cast<float>(level * std::numbers::sqrt2 * std::cos(angle)),
                         static_cast<float>(level * std::numbers::sqrt2 * std::sin(angle)),
                         {Oscillation(rng), Oscillation(rng)},
                         {Modulation(rng), Modulation(rng)}});
    }
  }

  // Until the note ends or the sound is full. Shapes: [frames, 2].
  void play(std::span<float> out) {
    const int64_t frames = static_cast<int64_t>(out.size()) / 2;
    const int64_t first = std::llround(note_.start_s * kSynthRate);
    const double end_s = held_s_ + preset_.loudness.release_s;
    double gain = 0;
    for (int64_t at = first; at < frames; at += kBlock) {
      const double since_s = static_cast<double>(at - first) / kSynthRate;
      if (since_s > end_s) break;
      fill(since_s);
      const double next_gain = gain_at(since_s + static_cast<double>(kBlock) / kSynthRate);
      const auto slope = static_cast<float>((next_gain - gain) / kBlock);
      const auto count = static_cast<int>(std::min<int64_t>(kBlock, frames - at));
      for (int j = 0; j < count; ++j) {
        const float here = static_cast<float>(gain) + slope * static_cast<float>(j);
        out[2 * (at + j)] += here * left_[j];
        out[2 * (at + j) + 1] += here * (is_stereo_ ? right_ : left_)[j];
      }
      gain = next_gain;
    }
  }

 private:
  double lfo_at(double since_s) const {
    const double rise = std::clamp((since_s - preset_.lfo.delay_s) / kLfoRise_s, 0.0, 1.0);
    return rise * std::sin(kTwoPi * preset_.lfo.hz * (note_.start_s + since_s));
  }

  double gain_at(double since_s) const {
    const double tremolo = std::pow(10, preset_.lfo.level_db * lfo_at(since_s) / 20);
    return note_.amplitude * note_.amplitude * tremolo * preset_.loudness.at(since_s, held_s_);
  }

  // One block of sound before its gain.
  void fill(double since_s) {
    const double lfo = lfo_at(since_s);
    double pitch = curve_.at(note_.start_s + since_s) + lfo * preset_.lfo.pitch_cents / 100;
    if (glide_semitones_ != 0) {
      pitch += glide_semitones_ * std::exp(-kGlideExponentials * since_s / preset_.glide_s);
    }
    const double hz = audio::midi_to_hz(pitch);
    left_.fill(0);
    right_.fill(0);
    for (Copy& copy : copies_) add_copy(copy, hz * copy.ratio, since_s);
    if (!preset_.filter) return;
    const double cutoff_hz = cutoff_at(lfo, hz, since_s);
    run_filter(cutoff_hz, low_passes_[0], left_);
    if (is_stereo_) run_filter(cutoff_hz, low_passes_[1], right_);
  }

  void add_copy(Copy& copy, double hz, double since_s) {
    Block wave{};
    for (size_t i = 0; i < 2; ++i) {
      if (preset_.fm) {
        const FmPair& pair = (*preset_.fm)[i];
        if (pair.level > 0) copy.modulations[i].add(pair, hz, since_s, wave);
      } else if (preset_.oscillators[i].level > 0) {
        copy.oscillations[i].add(preset_.oscillators[i], hz, wave);
      }
    }
    for (int j = 0; j < kBlock; ++j) {
      left_[j] += copy.left * wave[j];
      right_[j] += copy.right * wave[j];
    }
  }

  double cutoff_at(double lfo, double hz, double since_s) const {
    const SynthFilter& filter = *preset_.filter;
    const double octaves =
        filter.key_tracking * (note_.pitch - 60) / 12 +
        filter.envelope_octaves * filter.envelope.at(since_s, held_s_) +
        filter.velocity_octaves * (note_.amplitude - kUsualAmplitude) / (1 - kUsualAmplitude) +
        preset_.lfo.cutoff_octaves * lfo;
    return std::min(std::max(filter.cutoff_hz * std::exp2(octaves), 1.5 * hz), kHighestCutoff_hz);
  }

  void run_filter(double cutoff_hz, std::array<LowPass, 2>& stages, Block& block) const {
    stages[0].run(cutoff_hz, preset_.filter->resonance, block);
    if (preset_.filter->is_steep) stages[1].run(cutoff_hz, std::numbers::sqrt2 / 2, block);
  }

  const SynthPreset& preset_;
  const audio::Note& note_;
  PitchCurve curve_;
  double held_s_, glide_semitones_;
  bool is_stereo_;  // else the left block is both channels
  std::vector<Copy> copies_;
  std::array<std::array<LowPass, 2>, 2> low_passes_;  // [channels][stages]
  Block left_{}, right_{};
};

}  // namespace

void add_synth_note(const SynthPreset& preset, const audio::Note& note, double glide_semitones,
                    Rng& rng, std::span<float> out) {
  NotePlayer(preset, note, glide_semitones, rng).play(out);
}

}  // namespace hum::data::internal
