#include "data/stems/effects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "audio/test_signal.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

Room a_room(double decay_s, uint64_t index = 0) {
  Rng rng(1, "room", index);
  Room room = draw_room_of_song(rng);
  room.decay_s = decay_s;
  room.damping = 0;
  return room;
}

double rms_between(const std::vector<float>& stereo, double from_s, double to_s) {
  double sum = 0;
  const auto first = static_cast<size_t>(2 * from_s * kStemRate);
  const auto last = static_cast<size_t>(2 * to_s * kStemRate);
  for (size_t i = first; i < last; ++i) sum += stereo[i] * stereo[i];
  return std::sqrt(sum / static_cast<double>(last - first));
}

// Amplitude of the first channel at a frequency that has whole periods in the sound.
double level_at(const std::vector<float>& samples, size_t channels, double hz) {
  std::complex<double> sum = 0;
  const size_t frames = samples.size() / channels;
  for (size_t i = 0; i < frames; ++i) {
    const double phase = 2 * std::numbers::pi * hz * static_cast<double>(i) / kStemRate;
    sum += std::polar(static_cast<double>(samples[i * channels]), -phase);
  }
  return std::abs(sum) * 2 / static_cast<double>(frames);
}

TEST(Room, FallsBySixtyDecibelsInItsTime) {
  for (const double decay_s : {0.4, 1.5}) {
    std::vector<float> click(4 * kStemRate);
    click[0] = click[1] = 1;
    add_room(a_room(decay_s), 0, click);
    const double early = rms_between(click, 0.2, 0.4), late = rms_between(click, 0.6, 0.8);
    EXPECT_NEAR(20 * std::log10(early / late), 60 * 0.4 / decay_s, 8) << decay_s;
  }
}

TEST(Room, HasItsLevelAndBothChannels) {
  const auto tone = audio::tone(330, 2, kStemRate);
  for (const double wet_db : {-10.0, -30.0}) {
    audio::AudioBuffer sound = audio::from_mono(tone, kStemRate, 2);
    add_room(a_room(1), wet_db, sound.samples);
    double wet = 0, dry = 0, difference = 0;
    for (size_t i = 0; i < sound.samples.size(); i += 2) {
      const double left = sound.samples[i] - tone[i / 2],
                   right = sound.samples[i + 1] - tone[i / 2];
      wet += left * left + right * right;
      dry += 2 * tone[i / 2] * tone[i / 2];
      difference += (left - right) * (left - right);
    }
    EXPECT_NEAR(10 * std::log10(wet / dry), wet_db, 0.1);
    EXPECT_GT(difference, 0.1 * wet);
  }
}

TEST(StemEffects, KeepTheLevelAndSilence) {
  for (uint64_t index = 0; index < 20; ++index) {
    Rng rng(1, "effects", index);
    const StemEffects effects = draw_effects(Stem::kLead, rng);
    audio::AudioBuffer sound = audio::from_mono(audio::tone(440, 1, kStemRate, 0.1), kStemRate, 2);
    const double before = active_rms(sound.samples, 2);
    apply(effects, a_room(1, index), sound);
    EXPECT_LT(std::fabs(20 * std::log10(active_rms(sound.samples, 2) / before)), 9) << index;
    audio::AudioBuffer silence{kStemRate, 2, std::vector<float>(2000)};
    apply(effects, a_room(1, index), silence);
    for (const float sample : silence.samples) ASSERT_EQ(sample, 0);
  }
}

// Of 330 and 440 Hz through an amplifier, the combination tone 2 * 330 - 440 = 220 Hz is heard.
TEST(Amplifier, ClipsAChordAsAWholeAtItsLevel) {
  const auto low = audio::tone(330, 1, kStemRate), high = audio::tone(440, 1, kStemRate);
  std::vector<float> chord(low.size());
  for (size_t i = 0; i < chord.size(); ++i) chord[i] = 0.1F * (low[i] + high[i]);
  audio::AudioBuffer sound = audio::from_mono(chord, kStemRate, 2);
  const double level = active_rms(sound.samples, 2);
  apply({.drive_db = 20, .loudspeaker_hz = 4000}, sound);
  EXPECT_NEAR(active_rms(sound.samples, 2) / level, 1, 1e-3);
  const auto before = level_at(chord, 1, 220), after = level_at(sound.samples, 2, 220);
  EXPECT_LT(before, 1e-3 * level_at(chord, 1, 330));
  EXPECT_GT(after, 0.1 * level_at(sound.samples, 2, 330));
  EXPECT_LT(level_at(sound.samples, 2, 330 * 31), 1e-3 * level_at(sound.samples, 2, 330));
}

// The right channel is the left one, later.
TEST(Amplifier, PlaysGuitarsTwice) {
  const auto tone = audio::tone(330, 1, kStemRate);
  audio::AudioBuffer sound = audio::from_mono(tone, kStemRate, 2);
  apply({.drive_db = 6, .doubled_ms = 10}, sound);
  const size_t delay = kStemRate / 100;
  for (size_t i = 0; i < delay; ++i) ASSERT_EQ(sound.samples[2 * i + 1], 0);
  for (size_t i = delay; i < tone.size(); ++i) {
    ASSERT_EQ(sound.samples[2 * i + 1], sound.samples[2 * (i - delay)]) << i;
  }
}

TEST(Amplifier, OfABassHasLessDriveAndPlaysOnce) {
  Rng rng(1, "amplifiers");
  int doubled = 0;
  for (int i = 0; i < 200; ++i) {
    const Amplifier bass = draw_amplifier(Stem::kBass, rng);
    EXPECT_LE(bass.drive_db, 18);
    EXPECT_EQ(bass.doubled_ms, 0);
    const Amplifier guitar = draw_amplifier(Stem::kLead, rng);
    EXPECT_GE(guitar.drive_db, 6);
    doubled += guitar.doubled_ms > 0 ? 1 : 0;
  }
  EXPECT_NEAR(doubled, 100, 30);
}

}  // namespace
}  // namespace hum::data
