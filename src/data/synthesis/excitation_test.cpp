#include "data/synthesis/excitation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/synthesis/harmonics.h"
#include "data/synthesis/pitch_curve.h"
#include "data/synthesis/testing_impl.h"
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

using testing::amplitude_at;
using testing::between;
using testing::measured_pitch;
using testing::rms;

TEST(Excitation, HasThePitchOfTheNoteOverTheWholeRange) {
  for (const int pitch : {28, 40, 55, 69, 79, 88}) {
    const audio::Note note{0, 1, pitch, 0.5, {}};
    const auto samples = render_excitation({&note, 1}, kSampleRate);
    EXPECT_NEAR(measured_pitch(between(samples, 0.1, 0.6)), pitch, 0.15) << pitch;
  }
}

TEST(Excitation, GivesHarmonicKTheLevelOneOverRootK) {
  const audio::Note note{0, 2, 57, 0.5, {}};  // 220 Hz
  const auto samples = render_excitation({&note, 1}, int64_t{2} * kSampleRate);
  const auto part = between(samples, 0.5, 1.5);
  for (const int k : {1, 2, 5, 20, 44}) {
    EXPECT_NEAR(amplitude_at(part, 220 * k), kExcitationLevel / std::sqrt(k), 1e-3) << k;
  }
}

TEST(Excitation, FadesTheTopAndFoldsNothingBack) {
  const audio::Note note{
      0, 2, 93, 0.5, {}};  // 1760 Hz: harmonic 6 is at 10,560 Hz, 7 would fold to 9,730
  const auto samples = render_excitation({&note, 1}, int64_t{2} * kSampleRate);
  const auto part = between(samples, 0.5, 1.5);
  const double f0 = audio::midi_to_hz(93);
  const double fade = (11025 - 6 * f0) / 1102.5;
  EXPECT_NEAR(amplitude_at(part, 6 * f0), fade * kExcitationLevel / std::sqrt(6), 1e-3);
  for (int k = 7; k < 20; ++k) {
    const double folded = std::fabs(k * f0 - kSampleRate * std::round(k * f0 / kSampleRate));
    EXPECT_LT(amplitude_at(part, folded), 1e-4 * kExcitationLevel) << k;
  }
}

TEST(Excitation, FollowsBendsWithoutAJump) {
  std::vector<int> bends(60, 6);
  std::fill_n(bends.begin(), 30, 0);
  const audio::Note note{0, 1, 45, 0.5, bends};
  const auto samples = render_excitation({&note, 1}, kSampleRate);
  EXPECT_NEAR(measured_pitch(between(samples, 0.1, 0.4)), 45, 0.1);
  EXPECT_NEAR(measured_pitch(between(samples, 0.6, 0.95)), 47, 0.1);
  // One harmonic moves by at most 2 pi f / rate per sample; a phase jump exceeds this.
  HarmonicVoice voice;
  const PitchCurve curve(note);
  for (int i = 0; i < 352; ++i) {
    const double time_s = static_cast<double>(i) * kControlSamples / kSampleRate;
    voice.hz.push_back(static_cast<float>(audio::midi_to_hz(curve.at(time_s))));
    voice.gain.push_back(1);
  }
  std::vector<float> sine(kSampleRate);
  add_harmonics(voice, {.max_harmonics = 1}, sine);
  const double limit = 2 * std::numbers::pi * audio::midi_to_hz(47.1) / kSampleRate;
  for (size_t i = 1; i < sine.size(); ++i) ASSERT_LT(std::fabs(sine[i] - sine[i - 1]), limit);
}

TEST(Excitation, LivesAQuarterSecondPastTheEnd) {
  const audio::Note note{0, 0.5, 60, 0.5, {}};
  const auto samples = render_excitation({&note, 1}, kSampleRate);
  const double full = rms(between(samples, 0.2, 0.4));
  EXPECT_NEAR(rms(between(samples, 0.61, 0.64)) / full, 0.5, 0.1);
  EXPECT_LT(rms(between(samples, 0.757, 1.0)), 1e-9);
}

TEST(Excitation, DecaysBySixtyDecibelsOverALongTail) {
  const audio::Note note{0, 0.5, 60, 0.5, {}};
  const auto samples = render_excitation({&note, 1}, int64_t{3} * kSampleRate, 2);
  const auto brief = render_excitation({&note, 1}, int64_t{3} * kSampleRate);
  EXPECT_TRUE(std::ranges::equal(between(samples, 0, 0.5), between(brief, 0, 0.5)));
  const double full = rms(between(samples, 0.2, 0.4));
  const auto level_db = [&](double at_s) {
    return 20 * std::log10(rms(between(samples, at_s - 0.01, at_s + 0.01)) / full);
  };
  EXPECT_NEAR(level_db(0.75), -7.5, 0.5);
  EXPECT_NEAR(level_db(1.5), -30, 0.5);
  EXPECT_NEAR(level_db(2.25), -57.3, 0.5);  // bends down to silence
  EXPECT_GT(rms(between(samples, 2.4, 2.45)), 0);
  EXPECT_EQ(rms(between(samples, 2.51, 3)), 0);
}

TEST(Excitation, IsTheSameWhereAWindowIsCutOut) {
  const std::vector<audio::Note> notes = {
      {0, 0.15, 62, 0.5, {}}, {0.2, 1.4, 50, 0.5, {0, 1, 2, 1, 0, -1}}, {1.4, 2.5, 57, 0.5, {}}};
  const auto moved = shifted(notes, -1);
  for (const double tail_s : {kExcitationTail_s, 2.0}) {
    const auto whole = render_excitation(notes, int64_t{3} * kSampleRate, tail_s);
    const auto window = render_excitation(moved, int64_t{2} * kSampleRate, tail_s);
    for (size_t i = 0; i < window.size(); ++i) {
      ASSERT_NEAR(window[i], whole[i + kSampleRate], 1e-4);
    }
  }
}

TEST(Excitation, SumsOverNotesAndIgnoresAmplitude) {
  const audio::Note a{0, 1, 60, 0.1, {}};
  const audio::Note b{0.3, 1, 64, 1, {}};
  const std::vector<audio::Note> both = {a, b};
  const auto sum = render_excitation(both, kSampleRate);
  const auto only_a = render_excitation({&a, 1}, kSampleRate);
  const auto only_b = render_excitation({&b, 1}, kSampleRate);
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], only_a[i] + only_b[i], 1e-6);
  EXPECT_GT(rms(between(only_a, 0.2, 0.8)), 0.5 * rms(between(only_b, 0.4, 0.8)));
}

TEST(Excitation, ANextNoteDampsTheTailFromItsOnset) {
  const audio::Note first{0, 0.5, 48, 0.5, {}};
  // What the first note still adds: of a next one, of one that began well before its end.
  const auto rest_of = [&](const audio::Note& other) {
    const std::vector<audio::Note> both = {first, other};
    auto rest = render_excitation(both, kSampleRate);
    const auto alone = render_excitation({&other, 1}, kSampleRate);
    for (size_t i = 0; i < rest.size(); ++i) rest[i] -= alone[i];
    return rest;
  };
  const auto undamped = render_excitation({&first, 1}, kSampleRate);
  const auto legato = rest_of({0.5, 1, 60, 0.5, {}}), later = rest_of({0.6, 1, 60, 0.5, {}});
  EXPECT_NEAR(rms(between(legato, 0.2, 0.5)), rms(between(undamped, 0.2, 0.5)), 1e-4);
  EXPECT_LT(rms(between(legato, 0.5 + kDamping_s + 0.004, 1)), 1e-6);
  EXPECT_NEAR(rms(between(later, 0.5, 0.6)), rms(between(undamped, 0.5, 0.6)), 1e-4);
  EXPECT_LT(rms(between(later, 0.6 + kDamping_s + 0.004, 1)), 1e-6);
  const auto chord = rest_of({0.3, 1, 60, 0.5, {}});
  EXPECT_NEAR(rms(between(chord, 0.52, 0.7)), rms(between(undamped, 0.52, 0.7)), 1e-4);
}

TEST(Noise, IsWhiteWithUnitDeviationAndDependsOnItsKeyAlone) {
  std::vector<float> a(kSampleRate), b(kSampleRate), c(kSampleRate);
  render_noise(1, 7, a);
  render_noise(1, 7, b);
  render_noise(1, 8, c);
  EXPECT_EQ(a, b);
  EXPECT_NEAR(rms(a), 1, 0.02);
  double with_next = 0;
  double with_other = 0;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    with_next += a[i] * a[i + 1];
    with_other += a[i] * c[i];
  }
  EXPECT_LT(std::fabs(with_next) / kSampleRate, 0.03);
  EXPECT_LT(std::fabs(with_other) / kSampleRate, 0.03);
}

TEST(PitchCurve, SmoothsTheStepsOfBendsAndStaysNearThem) {
  const audio::Note note{1, 2, 60, 0.5, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}};
  const PitchCurve curve(note);
  EXPECT_DOUBLE_EQ(curve.at(0), 60);
  EXPECT_DOUBLE_EQ(curve.at(3), 61);
  double before = 60;
  for (double t = 1; t < 2; t += 0.01) {
    EXPECT_LE(std::fabs(curve.at(t) - audio::pitch_at(note, t)), 0.2);
    EXPECT_GE(curve.at(t), before);
    before = curve.at(t);
  }
  EXPECT_FALSE(PitchCurve({0, 1, 60, 0.5, {0, 0, 0}}).bends());
}

}  // namespace
}  // namespace hum::data
