// The notes of references, and the part of a recording that is used.
#include "app/play/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/synthesis/timing.h"

namespace hum::app {
namespace {

using audio::Note;
using testing::ElementsAre;

// Tones of the given seconds and levels, one after another.
std::vector<float> tones(const std::vector<std::pair<double, float>>& parts) {
  std::vector<float> samples;
  for (const auto& [seconds, level] : parts) {
    const int64_t count = data::sample_of(seconds);
    for (int64_t i = 0; i < count; ++i) {
      samples.push_back(level * std::sin(0.1F * static_cast<float>(i)));
    }
  }
  return samples;
}

double part_s(const std::vector<float>& samples, double seconds) {
  return static_cast<double>(best_part(samples, seconds)) / data::kSampleRate;
}

TEST(References, UseThePartThatSoundsLongest) {
  const auto samples = tones({{1, 0.5F}, {2, 0.0F}, {3, 0.5F}, {1, 0.0F}});
  EXPECT_NEAR(part_s(samples, 3), 3, 0.03);
  EXPECT_NEAR(part_s(samples, 2), 3, 0.03);  // the first of several
  EXPECT_EQ(part_s(samples, 10), 0);
  EXPECT_EQ(part_s(tones({{6, 0.5F}}), 3), 0);
}

TEST(References, CountQuietSoundAsARest) {
  // 40 dB below the loudest, then 20 dB below.
  EXPECT_NEAR(part_s(tones({{2, 0.005F}, {1, 0.5F}, {2, 0.05F}}), 2), 2, 0.05);
}

TEST(References, CoverTheRangeOfAPresetSoftlyAndLoudly) {
  const auto& violin = data::find_preset("violin");
  const auto notes = single_notes(violin);
  ASSERT_EQ(notes.size(), 16U);
  EXPECT_EQ(notes.front().pitch, violin.low);
  EXPECT_EQ(notes.back().pitch, violin.high);
  for (size_t i = 0; i < notes.size(); i += 2) {
    EXPECT_EQ(notes[i].pitch, notes[i + 1].pitch);
    EXPECT_LT(notes[i].amplitude, notes[i + 1].amplitude);
    EXPECT_EQ(notes[i].start_s, static_cast<double>(i));
    EXPECT_TRUE(i == 0 || notes[i].pitch > notes[i - 1].pitch);
  }
}

TEST(References, KeepTheSurestOfNotesThatSoundTogether) {
  const Note base{.start_s = 0, .end_s = 1, .pitch = 60, .amplitude = 0.8};
  const Note overtone{.start_s = 0.1, .end_s = 0.9, .pitch = 72, .amplitude = 0.4};
  const Note next{.start_s = 0.95, .end_s = 1.5, .pitch = 62, .amplitude = 0.5};
  EXPECT_THAT(one_line({overtone, next, base}), ElementsAre(base, next));
  EXPECT_TRUE(one_line({}).empty());
}

TEST(References, KnowFramesOfChords) {
  const std::vector<Note> notes = {{.start_s = 0, .end_s = 0.06, .pitch = 60},
                                   {.start_s = 0.04, .end_s = 0.10, .pitch = 64}};
  EXPECT_THAT(frames_of_one_note(notes, 6), ElementsAre(1, 1, 0, 1, 1, 1));
  EXPECT_THAT(frames_of_one_note(notes, 2), ElementsAre(1, 1));
}

}  // namespace
}  // namespace hum::app
