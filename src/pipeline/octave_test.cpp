#include "pipeline/octave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace hum::pipeline {
namespace {

using audio::Note;
using testing::HasSubstr;

std::vector<Note> sung(std::vector<int> pitches) {
  std::vector<Note> notes;
  for (const int pitch : pitches) {
    const auto at = static_cast<double>(notes.size());
    notes.push_back({at, at + 0.5, pitch, 0.8, {}});
  }
  return notes;
}

TEST(Octave, MovesAMelodyIntoTheRangeByTheSmallestStep) {
  const auto low = sung({45, 52});
  EXPECT_EQ(choose_octave(low, {55, 96}).octave, 1);
  EXPECT_EQ(choose_octave(low, {40, 84}).octave, 0);
  EXPECT_EQ(choose_octave(low, {74, 102}).octave, 3);
  EXPECT_EQ(choose_octave(low, {28, 44}).octave, -1);
  EXPECT_EQ(choose_octave(sung({60}), {71, 73}).octave, 1);
  EXPECT_EQ(choose_octave({}, {55, 96}).octave, 0);
}

TEST(Octave, GoesUpWhenBothDirectionsAreEquallyNear) {
  EXPECT_EQ(choose_octave(sung({60}), {48, 59}).octave, -1);
  auto both = sung({60, 60});
  both[1].pitch = 84;  // one moves in by going down, the other by going up: half either way
  EXPECT_EQ(choose_octave(both, {72, 72}).octave, 1);
}

TEST(Octave, ShortAndUncertainNotesDoNotVote) {
  auto notes = sung({60, 62, 64});
  notes.push_back({5, 5.08, 27, 0.9, {}});  // a thump
  notes.push_back({6, 9, 31, 0.3, {}});     // mains hum
  EXPECT_EQ(choose_octave(notes, {55, 96}).octave, 0);
  EXPECT_EQ(choose_octave(std::span(notes).subspan(3), {55, 96}).octave, 2);  // no others
  notes.push_back({9, 20, 100, 0.9, {}});  // loud, but the ear doubts it
  notes.back().confidence = 0.2;
  EXPECT_EQ(choose_octave(notes, {55, 96}).octave, 0);
}

TEST(Octave, AFewNotesOutsideTheRangeDoNotMoveTheMelody) {
  std::vector<int> pitches(30, 60);
  pitches.push_back(54);
  EXPECT_EQ(choose_octave(sung(pitches), {55, 71}).octave, 0);
  pitches.resize(12);
  pitches.push_back(54);
  EXPECT_EQ(choose_octave(sung(pitches), {55, 90}).octave, 1);
}

TEST(Octave, SaysWhy) {
  EXPECT_THAT(choose_octave(sung({45, 57}), {55, 96}).reason,
              HasSubstr("100 % of the melody is in the instrument's range, as sung 50 %"));
  EXPECT_THAT(choose_octave(sung({60}), {55, 96}).reason, HasSubstr("as sung"));
}

TEST(Octave, AClipStatesItsRange) {
  EXPECT_FALSE(range_around({}));
  const auto range = range_around(sung({84, 79, 88}));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low, 67);
  EXPECT_EQ(range->high, 100);
  EXPECT_EQ(choose_octave(sung({45, 48, 52}), *range).octave, 2);
  EXPECT_EQ(range_around(sung({5, 120}))->low, 0);
  EXPECT_EQ(range_around(sung({5, 120}))->high, 102);
  EXPECT_EQ(range_around(sung({100}))->low, 78);
}

}  // namespace
}  // namespace hum::pipeline
