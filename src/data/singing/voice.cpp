#include "data/singing/voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "audio/loudness.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

constexpr int kFormants = 5;
struct Formants {
  std::array<double, kFormants> hz, width_hz;
};
// "ah", "eh", "ee", "oh", "oo", "uh", "ae", "er" of an adult man; the last two formants are usual
// ones. Source: Peterson & Barney 1952, rounded; widths of Klatt 1980.
constexpr std::array<Formants, 8> kVowels = {
    {{{730, 1090, 2440, 3500, 4500}, {90, 110, 170, 250, 300}},
     {{530, 1840, 2480, 3500, 4500}, {70, 100, 170, 250, 300}},
     {{270, 2290, 3010, 3600, 4500}, {60, 90, 180, 250, 300}},
     {{570, 840, 2410, 3400, 4500}, {70, 90, 170, 250, 300}},
     {{300, 870, 2240, 3400, 4500}, {60, 90, 160, 250, 300}},
     {{640, 1190, 2390, 3500, 4500}, {80, 110, 170, 250, 300}},
     {{660, 1720, 2410, 3500, 4500}, {80, 100, 170, 250, 300}},
     {{490, 1350, 1690, 3300, 4500}, {80, 100, 120, 250, 300}}}};
constexpr Formants kNasal = {{270, 1000, 2200, 3300, 4500}, {80, 300, 350, 400, 400}};
// A closed mouth lets little through above this.
constexpr double kNasalCut_hz = 700;

Formants mixed(const Formants& a, const Formants& b, double share_of_b) {
  Formants result;
  for (int i = 0; i < kFormants; ++i) {
    result.hz[i] = a.hz[i] + share_of_b * (b.hz[i] - a.hz[i]);
    result.width_hz[i] = a.width_hz[i] + share_of_b * (b.width_hz[i] - a.width_hz[i]);
  }
  return result;
}

// The formants over time: one vowel a syllable, nasals in between.
class Tract {
 public:
  Tract(const Performance& performance, const Singer& singer, Rng& rng)
      : performance_(performance), scale_(singer.formant_scale) {
    const auto syllables = static_cast<size_t>(
        performance.syllable.empty() ? 0 : *std::ranges::max_element(performance.syllable));
    const bool one_vowel = rng.chance(0.3);  // "la la la"
    auto draw = [&] { return static_cast<size_t>(rng.integer(0, std::ssize(kVowels) - 1)); };
    const size_t first = draw();
    for (size_t i = 0; i < syllables + 2; ++i) vowels_.push_back(one_vowel ? first : draw());
  }

  Formants at(size_t point) const {
    const double place = performance_.syllable[point];
    const auto syllable = static_cast<size_t>(place);
    Formants formants = mixed(kVowels[vowels_[syllable]], kVowels[vowels_[syllable + 1]],
                              place - static_cast<double>(syllable));
    formants = mixed(formants, kNasal, performance_.nasality[point]);
    for (double& hz : formants.hz) hz *= scale_;
    return formants;
  }

 private:
  const Performance& performance_;
  double scale_;
  std::vector<size_t> vowels_;
};

// The gain of all resonances at a frequency; 1 at 0 Hz.
double gain_at(const Formants& formants, double hz) {
  double power = 1;
  for (int i = 0; i < kFormants; ++i) {
    const double centre = formants.hz[i] * formants.hz[i];
    const double off = centre - hz * hz, width = formants.width_hz[i] * hz;
    power *= centre * centre / (off * off + width * width);
  }
  return std::sqrt(power);
}

// Amplitudes of the harmonics at a control point.
class Spectrum {
 public:
  Spectrum(const Performance& performance, const Singer& singer, const Tract& tract)
      : performance_(performance), singer_(singer), tract_(tract) {}

  void operator()(size_t point, std::span<float> amplitudes) const {
    if (singer_.kind == VoiceKind::kWhistle) {
      std::ranges::fill(amplitudes, 0.0F);
      amplitudes[1] = 1;
      if (amplitudes.size() > 2) amplitudes[2] = 0.02F;
      return;
    }
    // From a soft voice to a loud one the source gains 6 dB per octave.
    const double tilt_db = singer_.tilt_db + 6 * (1 - performance_.effort[point]);
    const double exponent = -tilt_db / (20 * std::log10(2.0));
    const Formants formants = tract_.at(point);
    const double nasal = performance_.nasality[point], hz = performance_.hz[point];
    for (size_t k = 1; k < amplitudes.size(); ++k) {
      const double f = hz * static_cast<double>(k);
      const double through = 1 - nasal + nasal / (1 + std::pow(f / kNasalCut_hz, 2));
      amplitudes[k] = static_cast<float>(std::pow(static_cast<double>(k), exponent) * through *
                                         gain_at(formants, f));
    }
  }

 private:
  const Performance& performance_;
  const Singer& singer_;
  const Tract& tract_;
};

// Two poles whose frequency may change; gain 1 at their frequency.
class Resonator {
 public:
  void tune(double hz, double width_hz) {
    const double radius = std::exp(-std::numbers::pi * width_hz / kSampleRate);
    b_ = 2 * radius * std::cos(2 * std::numbers::pi * hz / kSampleRate);
    c_ = -radius * radius;
    a_ = (1 - radius) * std::sqrt(1 + radius * radius -
                                  2 * radius * std::cos(4 * std::numbers::pi * hz / kSampleRate));
  }
  double operator()(double sample) {
    const double y = a_ * sample + b_ * y1_ + c_ * y2_;
    y2_ = y1_;
    y1_ = y;
    return y;
  }

 private:
  double a_ = 1, b_ = 0, c_ = 0, y1_ = 0, y2_ = 0;
};

// The voice with the irregularities of its periods.
HarmonicVoice irregular(const Performance& performance, const Singer& singer, Rng& rng) {
  HarmonicVoice voice;
  for (size_t i = 0; i < performance.size(); ++i) {
    const double rough = performance.roughness[i];
    const double jitter = singer.jitter + 0.05 * rough;
    const double shimmer_db = singer.shimmer_db + 4 * rough;
    voice.hz.push_back(
        static_cast<float>(performance.hz[i] * std::max(0.5, 1 + jitter * rng.normal())));
    voice.gain.push_back(
        static_cast<float>(performance.level[i] * audio::from_db(shimmer_db * rng.normal())));
  }
  return voice;
}

void add_noises(const Performance& performance, const Singer& singer, const Tract& tract,
                std::span<const float> noise, std::span<float> out) {
  std::array<Resonator, 3> mouth;
  Resonator consonant;
  const bool whistles = singer.kind == VoiceKind::kWhistle;
  const double breath = audio::from_db(singer.breath_db);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t point = i / kControlSamples;
    if (i % kControlSamples == 0) {
      const Formants formants = tract.at(point);
      for (size_t f = 0; f < mouth.size(); ++f) {
        mouth[f].tune(whistles ? performance.hz[point] : formants.hz[f],
                      whistles ? 0.2 * performance.hz[point] : 3 * formants.width_hz[f]);
      }
      if (performance.noise_hz[point] > 0) {
        consonant.tune(performance.noise_hz[point], 0.4 * performance.noise_hz[point]);
      }
    }
    double sample = 0;
    for (Resonator& resonator : mouth) sample += resonator(noise[i]);
    sample *= breath * performance.level[point];
    out[i] += static_cast<float>(sample + performance.noise[point] * consonant(noise[i]));
  }
}

}  // namespace

std::vector<float> render_voice(const Performance& performance, const Singer& singer,
                                int64_t samples, uint64_t seed, uint64_t index) {
  HUM_REQUIRE(samples <= static_cast<int64_t>(performance.size() - 1) * kControlSamples,
              "render_voice: {} samples of {} control points", samples, performance.size());
  Rng rng(seed, "voice", index);
  const Tract tract(performance, singer, rng);
  std::vector<float> out(static_cast<size_t>(samples));
  const HarmonicVoice voice = irregular(performance, singer, rng);
  add_harmonics(voice, Spectrum(performance, singer, tract), out);
  // The voice's harmonics and its noises are compared at a common level.
  const double rms = active_rms(out);
  for (float& sample : out) sample *= static_cast<float>(rms > 0 ? kTargetRms / rms : 0);
  std::vector<float> noise(out.size());
  render_noise(seed, index, noise);
  for (float& sample : noise) sample *= static_cast<float>(kTargetRms);
  add_noises(performance, singer, tract, noise, out);
  normalise_level(out);
  return out;
}

}  // namespace hum::data
