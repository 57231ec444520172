#include "data/synthesis/hum_voice.h"

#include <gtest/gtest.h>

#include <thread>

#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

using testing::between;
using testing::measured_pitch;
using testing::rms;

const std::vector<audio::Note> kTune = {
    {0.2, 1.0, 55, 0.63, {}}, {1.0, 1.8, 59, 0.63, {}}, {2.4, 3.4, 62, 0.63, {}}};

TEST(HumVoice, SingsTheNotesWithinATuningAndDriftOfLessThanASemitone) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto samples = render_hum(kTune, 4, 1, i);
    ASSERT_EQ(samples.size(), 4U * kSampleRate);
    for (const auto& note : kTune) {
      const auto part = between(samples, note.start_s + 0.25, note.end_s - 0.1);
      EXPECT_NEAR(measured_pitch(part, 60, 1000), note.pitch, 0.7) << i;
    }
  }
}

TEST(HumVoice, RestsBetweenPhrasesAndIsNeverDigitalSilence) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto samples = render_hum(kTune, 4, 2, i);
    const double rest = rms(between(samples, 1.95, 2.3));
    EXPECT_LT(rest, 0.15 * rms(between(samples, 0.4, 0.9))) << i;
    EXPECT_GT(rest, 1e-6);
  }
}

TEST(HumVoice, SingsAsFarOffTuneAsItIsTold) {
  const auto flat = render_hum(kTune, 4, 1, 3, {.tuning_cents = -40});
  const auto sharp = render_hum(kTune, 4, 1, 3, {.tuning_cents = 40});
  EXPECT_NEAR(measured_pitch(between(sharp, 0.5, 0.9), 60, 1000) -
                  measured_pitch(between(flat, 0.5, 0.9), 60, 1000),
              0.8, 0.05);
}

TEST(HumVoice, BeginsNotesWhereTheyAreWritten) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto samples = render_hum(kTune, 4, 6, i, {.exact_onsets = true});
    const double loud = rms(between(samples, 0.4, 0.9));
    EXPECT_LT(rms(between(samples, 2.38, 2.398)), 0.15 * loud) << i;
    EXPECT_GT(rms(between(samples, 2.43, 2.46)), 0.2 * loud) << i;
  }
}

// The lowest level around 1.0 s, where one note follows another, against that of the notes.
double dip(int second_pitch, uint64_t index, bool legato) {
  const std::vector<audio::Note> notes = {{0.2, 1.0, 55, 0.63, {}},
                                          {1.0, 1.8, second_pitch, 0.63, {}}};
  const auto samples = render_hum(notes, 2, 7, index, {.exact_onsets = true, .legato = legato});
  double lowest = 1e9;
  for (double at_s = 0.93; at_s < 1.07; at_s += 0.005) {
    lowest = std::min(lowest, rms(between(samples, at_s - 0.01, at_s + 0.01)));
  }
  return lowest / std::min(rms(between(samples, 0.5, 0.9)), rms(between(samples, 1.2, 1.6)));
}

TEST(HumVoice, LegatoGoesOnBetweenNotesAndDipsForARepeatedOne) {
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_GT(dip(56, i, true), 0.8) << i;
    EXPECT_LT(dip(55, i, true), 0.75) << i;
    EXPECT_GT(dip(55, i, true), 0.02) << i;
    EXPECT_LT(dip(56, i, false), 0.6) << i;
  }
}

TEST(HumVoice, LabelsNotesWhereTheyAreHeard) {
  const std::vector<audio::Note> notes = {
      {0.2, 1.0, 55, 0.63, {}}, {1.0, 1.8, 59, 0.63, {}}, {1.8, 2.6, 59, 0.63, {}}};
  int joined = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    const HumManner manner{.exact_onsets = true, .legato = true};
    const auto labels = notes_of_hum(notes, 7, i, manner);
    ASSERT_GE(labels.size(), 2U);
    EXPECT_NEAR(labels[0].start_s, 0.2, 0.007) << "the beginning of an attack";
    EXPECT_EQ(labels[0].end_s, labels[1].start_s);
    // Half of a glide with a time constant of 12 to 40 ms.
    EXPECT_GE(labels[1].start_s, 1.008);
    EXPECT_LE(labels[1].start_s, 1.028);
    EXPECT_EQ(labels.back().end_s, 2.6);
    joined += labels.size() == 2 ? 1 : 0;
    if (labels.size() == 2) continue;
    EXPECT_GT(labels[2].start_s, 1.8);
    EXPECT_LT(labels[2].start_s, 1.83);
    EXPECT_LT(dip(55, i, true), 0.75) << "the dip that parts them";
  }
  EXPECT_GT(joined, 0) << "some singers hardly dip";
  EXPECT_LT(joined, 12);
}

TEST(HumVoice, DependsOnItsArgumentsAlone) {
  const auto first = render_hum(kTune, 4, 3, 9);
  EXPECT_EQ(first, render_hum(kTune, 4, 3, 9));
  EXPECT_NE(first, render_hum(kTune, 4, 3, 10));
  std::vector<float> other;
  std::jthread([&] { other = render_hum(kTune, 4, 3, 9); }).join();
  EXPECT_EQ(first, other);
}

TEST(HumVoice, SingsTheTopOfChordsAndNothingOfNothing) {
  std::vector<audio::Note> chords = kTune;
  for (const auto& note : kTune) {
    chords.push_back(note);
    chords.back().pitch -= 7;
  }
  EXPECT_EQ(render_hum(chords, 4, 4, 1), render_hum(kTune, 4, 4, 1));
  EXPECT_LT(rms(render_hum({}, 1, 4, 1)), 1e-3);
}

TEST(HumVoice, DoesNotFoldBackOrClip) {
  for (uint64_t i = 0; i < 20; ++i) {
    for (const float sample : render_hum(kTune, 4, 5, i)) ASSERT_LT(std::fabs(sample), 1);
  }
}

}  // namespace
}  // namespace hum::data
