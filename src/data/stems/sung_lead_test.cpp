#include "data/stems/sung_lead.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "audio/resample.h"
#include "data/stems/roles.h"
#include "data/synthesis/testing_impl.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

TEST(TopLine, IsTheHighestOfChordsWithoutOverlaps) {
  const std::vector<audio::Note> notes = {{0, 1, 60, 0.7, {}},
                                          {0.01, 0.8, 67, 0.7, {}},
                                          {0.5, 1.2, 65, 0.7, {}},
                                          {2, 3, 60, 0.7, {}},
                                          {2.01, 3, 55, 0.7, {}}};
  const auto line = top_line(notes);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(line[0].pitch, 67);
  EXPECT_EQ(line[0].start_s, 0);
  EXPECT_EQ(line[0].end_s, 0.5);
  EXPECT_EQ(line[1].pitch, 65);
  EXPECT_EQ(line[2].pitch, 60);
  EXPECT_TRUE(top_line({}).empty());
}

TEST(SungLead, SingsTheNotesInSomeOctave) {
  const std::vector<audio::Note> notes = {{0.2, 1.6, 69, 0.7, {}}, {2.2, 3.6, 72, 0.7, {}}};
  std::set<std::string> voices;
  for (uint64_t index = 0; index < 12; ++index) {
    const SungLead sung = sing_lead(notes, 4, 1, index);
    voices.insert(sung.voice);
    EXPECT_EQ(sung.sound.rate_hz, kStemRate);
    ASSERT_EQ(sung.sound.frames(), 4 * kStemRate);
    const auto mono = audio::resample(audio::to_mono(sung.sound).samples, kStemRate, kSampleRate);
    for (const auto& note : notes) {
      const double pitch =
          testing::measured_pitch(testing::between(mono, note.start_s + 0.6, note.start_s + 1.2));
      const double octaves = (pitch - note.pitch) / 12;
      EXPECT_NEAR(octaves, std::round(octaves), 0.09) << index << " " << sung.voice << " " << pitch;
    }
    EXPECT_LT(testing::rms(testing::between(mono, 1.85, 2.0)),
              0.1 * testing::rms(testing::between(mono, 0.8, 1.4)));
  }
  EXPECT_GE(voices.size(), 4U);
  EXPECT_EQ(sing_lead(notes, 4, 1, 3).sound.samples, sing_lead(notes, 4, 1, 3).sound.samples);
}

// The one who hums sings all notes, for 50 ms at least.
TEST(SungLead, SingersOfWordsLeaveOutWhatNobodyCouldSing) {
  const std::vector<audio::Note> notes = {{0, 0.01, 60, 0.5, {}}, {3.99, 9, 20, 0.5, {}}};
  int silent = 0;
  for (uint64_t index = 0; index < 12; ++index) {
    const SungLead sung = sing_lead(notes, 4, 1, index);
    EXPECT_EQ(sung.sound.frames(), 4 * kStemRate);
    if (sung.voice == "hum") continue;
    EXPECT_TRUE(std::ranges::all_of(sung.sound.samples, [](float x) { return x == 0; }))
        << index << " " << sung.voice;
    ++silent;
  }
  EXPECT_GT(silent, 0);
}

}  // namespace
}  // namespace hum::data
