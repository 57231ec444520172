#include "eval/harness/instrument_row.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "eval/harness/testing_impl.h"

namespace hum::eval {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::melody;
using ::testing::Not;

constexpr double kSeconds = 5;

std::vector<float> play(const char* preset, std::span<const audio::Note> notes) {
  return testing::render(notes, data::find_preset(preset), kSeconds);
}

// Another melody, as in a timbre reference: other pitches at other times.
std::vector<audio::Note> other_melody() {
  std::vector<audio::Note> notes;
  for (int i = 0; i < 6; ++i)
    notes.push_back({0.1 + 0.7 * i, 0.6 + 0.7 * i, 80 + 5 * (i % 2), 0.7, {}});
  return notes;
}

const InstrumentJudge& violin_judge() {
  static const InstrumentJudge judge({.notes = melody(),
                                      .truth = play("violin", melody()),
                                      .others = {play("flute", melody()), play("piano", melody())},
                                      .wrong_melody = play("violin", wrong_notes(melody())),
                                      .hum = data::render_hum(melody(), kSeconds, 3, 1),
                                      .reference = play("violin", other_melody())},
                                     testing::basic_pitch());
  return judge;
}

TEST(InstrumentRow, TheTrueInstrumentPasses) {
  const auto row = violin_judge().judge(play("violin", melody()));
  EXPECT_THAT(row.failures(), IsEmpty());
  EXPECT_DOUBLE_EQ(row.kept.chroma, 1);
  EXPECT_DOUBLE_EQ(row.kept.f1, 1);
  EXPECT_DOUBLE_EQ(row.distance, 0);
  EXPECT_GT(row.nearest_other, 10);
}

TEST(InstrumentRow, ItsLevelDoesNotMatter) {
  auto quiet = play("violin", melody());
  for (float& sample : quiet) sample *= 0.3F;
  EXPECT_THAT(violin_judge().judge(quiet).failures(), IsEmpty());
}

TEST(InstrumentRow, EveryNegativeControlFails) {
  const auto controls = violin_judge().negative_controls();
  ASSERT_EQ(controls.size(), 5U);
  for (const auto& [name, samples] : controls) {
    ASSERT_FALSE(samples.empty()) << name;
    EXPECT_THAT(violin_judge().judge(samples).failures(), Not(IsEmpty())) << name;
  }
}

TEST(InstrumentRow, TheSineHasTheMelodyButNotTheTimbre) {
  const auto row = violin_judge().judge(violin_judge().negative_controls()[1].samples);
  EXPECT_GE(row.kept.chroma, 1);
  EXPECT_GE(row.kept.f1_sung, 0.8);
  EXPECT_DOUBLE_EQ(row.distance, row.sine_distance);
  EXPECT_THAT(row.failures(), Contains("sine"));
}

TEST(InstrumentRow, TheWrongMelodyHasTheTimbreButNotTheNotes) {
  const auto row = violin_judge().judge(violin_judge().negative_controls()[3].samples);
  EXPECT_THAT(row.failures(), ElementsAre("chroma", "F1"));
  EXPECT_LT(row.kept.chroma, 0.4);
}

TEST(InstrumentRow, TheReferenceHasTheTimbreButNotTheNotes) {
  const auto row = violin_judge().judge(violin_judge().negative_controls()[4].samples);
  EXPECT_THAT(row.failures(), ::testing::IsSupersetOf({"chroma", "F1"}));
}

TEST(InstrumentRow, AnotherPresetIsTheWrongAnswer) {
  const auto row = violin_judge().judge(play("piano", melody()));
  EXPECT_THAT(row.failures(), Contains("other preset"));
  EXPECT_DOUBLE_EQ(row.nearest_other, 0);
}

TEST(InstrumentRow, ComparesEachFigureWithItsOwnLimit) {
  InstrumentRow row{.kept = {.chroma = 0.90, .f1_sung = 0.80},
                    .distance = 10,
                    .nearest_other = 10.1,
                    .hum_distance = 20.1,
                    .sine_distance = 20.1};
  EXPECT_THAT(row.failures(), IsEmpty());
  row.kept.f1_sung = 0.79;
  EXPECT_THAT(row.failures(), ElementsAre("F1"));
  row.distance = 10.1;
  EXPECT_THAT(row.failures(), ElementsAre("F1", "other preset", "hum", "sine"));
  row.distance = NAN;
  EXPECT_THAT(row.failures({.chroma = 0.95, .f1 = 0.5}),
              ElementsAre("chroma", "other preset", "hum", "sine"));
}

TEST(InstrumentRow, WantsSomethingToCompareWith) {
  EXPECT_THROW(InstrumentJudge({.notes = melody(), .truth = {0.1F}}, testing::basic_pitch()),
               Error);
}

TEST(WrongNotes, KeepTheRhythm) {
  const std::vector<audio::Note> same_backwards = {{.start_s = 0, .end_s = 1, .pitch = 60},
                                                   {.start_s = 1, .end_s = 2, .pitch = 60}};
  EXPECT_EQ(wrong_notes(same_backwards)[1].pitch, 66);

  const auto right = melody(), wrong = wrong_notes(right);
  ASSERT_EQ(wrong.size(), right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    EXPECT_EQ(wrong[i].start_s, right[i].start_s);
    EXPECT_EQ(wrong[i].end_s, right[i].end_s);
    EXPECT_EQ(wrong[i].pitch, right[right.size() - 1 - i].pitch);
  }
}

}  // namespace
}  // namespace hum::eval
