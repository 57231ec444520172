#include "data/synthesizer/synthesizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <tuple>
#include <vector>

#include "audio/dsp.h"
#include "audio/pitch.h"
#include "base/error.h"
#include "base/threads.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

using audio::Note;

constexpr int kRate = 44100;
constexpr SynthRole kRoles[] = {SynthRole::kLead, SynthRole::kChordal};

std::vector<float> left_of(const audio::AudioBuffer& sound) {
  std::vector<float> left(sound.frames());
  for (size_t i = 0; i < left.size(); ++i) left[i] = sound.samples[2 * i];
  return left;
}

// One oscillator without filter, whose loudness is constant.
SynthPreset plain(Wave wave) {
  SynthPreset preset;
  preset.oscillators[0].wave = wave;
  preset.loudness.sustain = 1;
  preset.loudness.release_s = 0.03;
  return preset;
}

double cents_off(std::span<const float> samples, double pitch) {
  const auto track = audio::yin(
      samples, kRate, {.window_samples = 4096, .hop_samples = 1024, .trough_threshold = 0.05});
  std::vector<double> hz(track.hz.begin() + 3, track.hz.end() - 3);
  std::ranges::sort(hz);
  return 100 * (audio::hz_to_midi(hz[hz.size() / 2]) - pitch);
}

// Power of `size` samples from `first` on, by bins of 44,100 / size Hz.
std::vector<double> power_spectrum(std::span<const float> samples, size_t first, int size = 16384) {
  const auto window = audio::hann_window(size);
  std::vector<float> windowed(size);
  for (int i = 0; i < size; ++i) windowed[i] = window[i] * samples[first + i];
  std::vector<std::complex<float>> spectrum(size / 2 + 1);
  audio::RealFft(size).forward(windowed, spectrum);
  std::vector<double> power;
  for (const auto& bin : spectrum) power.push_back(std::norm(bin));
  return power;
}
constexpr double kBin_hz = kRate / 16384.0;

// The mean of the first four harmonics' pitch relative to `hz`, weighted by power, so that detuned
// copies count evenly; and how far what is at the same multiples of hz / 2 is below them.
struct Tuning {
  double cents, octave_below_db;
};
Tuning tuning_of(std::span<const float> samples, double hz) {
  constexpr int kSize = 1 << 17;
  const auto power = power_spectrum(samples, kRate / 3, kSize);
  const double bin_hz = static_cast<double>(kRate) / kSize;
  double all = 0, below = 0, cents = 0;
  for (size_t i = 1; i * bin_hz < 4.2 * hz; ++i) {
    const double halves = 2 * i * bin_hz / hz;
    const double nearest = std::max(1.0, std::round(halves));
    const double distance_cents = 1200 * std::log2(halves / nearest);
    if (std::abs(distance_cents) > 60) continue;
    const bool is_harmonic = std::fmod(nearest, 2) == 0;
    (is_harmonic ? all : below) += power[i];
    if (is_harmonic) cents += power[i] * distance_cents;
  }
  return {cents / all, 10 * std::log10(all / below)};
}

// Of what is below 16 kHz, the share in dB that is not near a multiple of `hz`.
double inharmonic_db(std::span<const float> samples, double hz) {
  const auto power = power_spectrum(samples, kRate / 4);
  double all = 0, off = 0;
  for (size_t i = 0; i * kBin_hz < 16000; ++i) {
    all += power[i];
    const double distance_hz = std::abs(std::remainder(static_cast<double>(i) * kBin_hz, hz));
    if (distance_hz > 15 * kBin_hz) off += power[i];
  }
  return 10 * std::log10(off / all);
}

double high_power(std::span<const float> samples, double middle_s) {
  const auto first = static_cast<size_t>(middle_s * kRate) - 8192;
  const auto power = power_spectrum(samples, first);
  double sum = 0;
  for (auto i = static_cast<size_t>(5000 / kBin_hz); i < power.size(); ++i) sum += power[i];
  return sum;
}

const std::vector<Note> kPhrase = {{0.0, 0.4, 60, 0.7, {}},
                                   {0.4, 0.9, 64, 0.5, {0, 1, 2, 3}},
                                   {0.4, 0.9, 67, 0.5, {}},
                                   {1.0, 1.4, 72, 0.9, {}}};

TEST(Synthesizer, PresetsAndSoundsDependOnSeedAndIndexAlone) {
  const auto render = [](SynthRole role, uint64_t seed, uint64_t index) {
    return render_synth(draw_synth_preset(role, seed, index), kPhrase, 1.5, seed, index).samples;
  };
  const auto first = render(SynthRole::kLead, 1, 1);
  EXPECT_EQ(first.size(), 2u * 66150);
  EXPECT_EQ(first, render(SynthRole::kLead, 1, 1));
  EXPECT_NE(first, render(SynthRole::kLead, 1, 2));
  EXPECT_NE(first, render(SynthRole::kLead, 2, 1));
  EXPECT_NE(first, render(SynthRole::kChordal, 1, 1));
}

TEST(Synthesizer, AnyNumberOfThreadsMakesTheSameSamples) {
  const auto render_all = [](int threads) {
    std::vector<std::vector<float>> sounds(12);
    parallel_for(12, threads, [&](int64_t i) {
      const SynthPreset preset = draw_synth_preset(kRoles[i % 2], 5, i);
      sounds[i] = render_synth(preset, kPhrase, 1.5, 5, i).samples;
    });
    return sounds;
  };
  EXPECT_EQ(render_all(4), render_all(1));
}

TEST(Synthesizer, DrawnPresetsAreInTune) {
  for (const SynthRole role : kRoles) {
    for (uint64_t i = 0; i < 16; ++i) {
      SynthPreset preset = draw_synth_preset(role, 3, i);
      preset.lfo.pitch_cents = 0;
      for (const int pitch : {45, 60, 76}) {
        // Detuned copies are flat on one side and sharp on the other, and beat for seconds.
        const std::vector<Note> notes = {{0, 5, pitch, 0.7, {}}};
        const auto mono = audio::to_mono(render_synth(preset, notes, 5, 3, i));
        const Tuning tuning = tuning_of(mono.samples, audio::midi_to_hz(pitch));
        SCOPED_TRACE(fmt::format("role {}, preset {}, pitch {}", static_cast<int>(role), i, pitch));
        EXPECT_NEAR(tuning.cents, 0, 5);
        EXPECT_GT(tuning.octave_below_db, 30);
      }
    }
  }
}

TEST(Synthesizer, PitchFollowsBendsAndGlides) {
  const std::vector<Note> bent = {{0, 1, 60, 0.7, std::vector<int>(86, 4)}};
  const SynthPreset preset = plain(Wave::kSaw);
  EXPECT_NEAR(cents_off(left_of(render_synth(preset, bent, 1, 1, 1)), 61 + 1 / 3.0), 0, 5);
  SynthPreset gliding = preset;
  gliding.glide_s = 2;
  const std::vector<Note> two = {{0, 1, 60, 0.7, {}}, {1, 3, 67, 0.7, {}}};
  const auto samples = left_of(render_synth(gliding, two, 3, 1, 1));
  const std::span<const float> all(samples);
  EXPECT_NEAR(cents_off(all.subspan(0, kRate), 60), 0, 5);
  // Half a second after its start, e^-1 of the seven semitones are left.
  EXPECT_NEAR(cents_off(all.subspan(3 * kRate / 2 - 5120, 10240), 67 - 7 * std::exp(-1)), 0, 15);
  EXPECT_NEAR(cents_off(all.subspan(2 * kRate + kRate / 2, kRate / 2), 67), 0, 40);
}

TEST(Synthesizer, EverySoundHasTheCommonLevel) {
  for (const SynthRole role : kRoles) {
    for (uint64_t i = 0; i < 16; ++i) {
      const auto sound = render_synth(draw_synth_preset(role, 4, i), kPhrase, 1.5, 4, i);
      float peak = 0;
      for (const float sample : sound.samples) peak = std::max(peak, std::abs(sample));
      const double rms = active_rms(sound.samples, 2);
      EXPECT_LE(peak, kPeakLimit + 1e-4);
      EXPECT_TRUE(std::abs(rms - kTargetRms) < 1e-4 || peak > kPeakLimit - 1e-4) << rms;
    }
  }
}

TEST(Synthesizer, NoPitchMakesItUnstable) {
  for (const SynthRole role : kRoles) {
    for (uint64_t i = 0; i < 16; ++i) {
      SynthPreset preset = draw_synth_preset(role, 6, i);
      if (preset.filter) preset.filter->resonance = 10;
      for (const int pitch : {0, 21, 108, 127}) {
        const std::vector<Note> notes = {{0, 0.2, pitch, 1, {}}, {0.2, 0.21, pitch, 0.01, {}}};
        for (const float sample : render_synth(preset, notes, 0.5, 6, i).samples) {
          ASSERT_TRUE(std::isfinite(sample)) << "preset " << i << ", pitch " << pitch;
        }
      }
    }
  }
}

TEST(Synthesizer, IsSilentWithoutNotesAndAfterThem) {
  const auto is_silence = [](std::span<const float> samples) {
    return std::ranges::all_of(samples, [](float sample) { return sample == 0; });
  };
  SynthPreset preset = draw_synth_preset(SynthRole::kLead, 1, 1);
  preset.loudness.release_s = 0.2;
  for (const double drive_db : {0, 12}) {
    preset.drive_db = drive_db;
    EXPECT_TRUE(is_silence(render_synth(preset, {}, 1, 1, 1).samples));
    const std::vector<Note> notes = {{0.2, 0.5, 60, 0.7, {}}};
    const auto sound = render_synth(preset, notes, 1, 1, 1);
    const std::span<const float> all(sound.samples);
    EXPECT_TRUE(is_silence(all.first(2 * (kRate / 5 - 40))));
    EXPECT_FALSE(is_silence(all.subspan(kRate, kRate / 5)));
    EXPECT_TRUE(is_silence(all.subspan(2 * (kRate * 7 / 10 + 60))));
  }
}

TEST(Synthesizer, NotesBeginAndEndWithoutClicks) {
  SynthPreset preset = plain(Wave::kSine);
  preset.loudness.attack_s = 0.003;
  const std::vector<Note> notes = {{0.5, 1, 69, 0.7, {}}};
  const auto samples = left_of(render_synth(preset, notes, 2, 1, 1));
  // The same tone, cut at a peak.
  auto cut = samples;
  const auto middle = cut.begin() + 3 * kRate / 4;
  std::fill(std::max_element(middle, middle + 200), cut.end(), 0.0F);
  const double click = high_power(cut, 0.75);
  EXPECT_LT(high_power(samples, 0.5), 1e-3 * click);
  EXPECT_LT(high_power(samples, 1.0), 1e-3 * click);
  EXPECT_LT(high_power(samples, 1.03), 1e-3 * click);
}

TEST(Synthesizer, HighNotesDoNotAlias) {
  constexpr int kPitch = 100;
  const double hz = audio::midi_to_hz(kPitch);
  const std::vector<Note> notes = {{0, 1, kPitch, 0.7, {}}};
  std::vector<float> naive(kRate);
  for (int i = 0; i < kRate; ++i) {
    naive[i] = static_cast<float>(2 * std::fmod(i * hz / kRate, 1) - 1);
  }
  EXPECT_GT(inharmonic_db(naive, hz), -30) << "what the test measures";

  SynthPreset filtered = plain(Wave::kSaw);
  filtered.filter = SynthFilter{.is_steep = true, .cutoff_hz = 6000, .resonance = 4};
  SynthPreset modulated = plain(Wave::kSine);
  modulated.fm = {FmPair{.modulator = 3, .index = 6, .sustain = 1},
                  FmPair{.carrier = 2, .modulator = 1, .index = 6, .sustain = 1}};
  for (const SynthPreset& preset : {plain(Wave::kSaw), plain(Wave::kPulse), plain(Wave::kTriangle),
                                    plain(Wave::kSine), filtered, modulated}) {
    EXPECT_LT(inharmonic_db(left_of(render_synth(preset, notes, 1, 1, 1)), hz), -60);
    SynthPreset driven = preset;
    driven.drive_db = 12;
    EXPECT_LT(inharmonic_db(left_of(render_synth(driven, notes, 1, 1, 1)), hz), -50);
  }
}

TEST(Synthesizer, UnisonIsWideAndOneVoiceIsNot) {
  const std::vector<Note> notes = {{0, 1, 60, 0.7, {}}};
  SynthPreset preset = plain(Wave::kSaw);
  const auto difference = [&] {
    const auto sound = render_synth(preset, notes, 1, 1, 1);
    double sum = 0;
    for (size_t i = 0; i < sound.samples.size(); i += 2) {
      sum += std::abs(sound.samples[i] - sound.samples[i + 1]);
    }
    return sum / static_cast<double>(sound.frames());
  };
  EXPECT_EQ(difference(), 0);
  preset.unison = {.voices = 5, .detune_cents = 12, .width = 1};
  EXPECT_GT(difference(), 0.05);
  preset.unison.width = 0;
  EXPECT_EQ(difference(), 0);
}

TEST(Synthesizer, LoudnessFollowsTheAmplitude) {
  const std::vector<Note> notes = {{0, 0.5, 60, 0.4, {}}, {1, 1.5, 60, 0.8, {}}};
  const auto samples = left_of(render_synth(plain(Wave::kPulse), notes, 2, 1, 1));
  const std::span<const float> all(samples);
  const double soft = active_rms(all.subspan(kRate / 10, kRate / 4));
  const double loud = active_rms(all.subspan(kRate + kRate / 10, kRate / 4));
  EXPECT_NEAR(20 * std::log10(loud / soft), 40 * std::log10(2), 0.1);
}

TEST(Synthesizer, EnvelopesRiseFallAndEnd) {
  const Envelope envelope{.attack_s = 0.1, .decay_s = 0.5, .sustain = 0.5, .release_s = 0.2};
  EXPECT_EQ(envelope.at(0, 1), 0);
  EXPECT_DOUBLE_EQ(envelope.at(0.05, 1), 0.5);
  EXPECT_NEAR(envelope.at(0.1, 1), 1, 1e-12);
  EXPECT_NEAR(envelope.at(0.6, 1), 0.5 + 0.5 * std::exp(-5), 1e-12);
  EXPECT_NEAR(envelope.at(1, 1), envelope.at(1 - 1e-9, 1), 1e-6);
  EXPECT_LT(envelope.at(1.1, 1), 0.1);
  EXPECT_NEAR(envelope.at(1.2, 1), 0, 1e-12);
  EXPECT_EQ(envelope.at(1.201, 1), 0);
  EXPECT_NEAR(envelope.at(0.05, 0.05), 0.5, 1e-6) << "released within the attack";
}

TEST(Synthesizer, ImpossibleNotesAreRefused) {
  const auto render = [](const Note& note) {
    return render_synth(SynthPreset{}, std::vector<Note>{note}, 1, 1, 1);
  };
  EXPECT_THROW(render({-0.1, 1, 60, 0.7, {}}), Error);
  EXPECT_THROW(render({0.5, 0.5, 60, 0.7, {}}), Error);
  EXPECT_THROW(render_synth(SynthPreset{}, {}, 0, 1, 1), Error);
  const auto late = render({2, 3, 60, 0.7, {}});
  EXPECT_EQ(late.samples.size(), 2u * kRate);
}

}  // namespace
}  // namespace hum::data
