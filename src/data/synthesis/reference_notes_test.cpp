// The notes of timbre references: their register, their range, their shares.
#include "data/synthesis/reference_notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/synthesis/presets.h"

namespace hum::data {
namespace {

using audio::Note;

std::vector<Note> notes_of(std::initializer_list<int> pitches) {
  std::vector<Note> notes;
  for (const int pitch : pitches) {
    const auto start_s = static_cast<double>(notes.size());
    notes.push_back({.start_s = start_s, .end_s = start_s + 1, .pitch = pitch});
  }
  return notes;
}

TEST(ReferenceNotes, AreMovedToTheRegisterOfOthers) {
  const Preset& flute = find_preset("flute");
  const int low = flute.low;
  const auto others = notes_of({low + 10, low + 14, low + 15});
  const auto moved = in_register_of(others, notes_of({low, low + 2, low + 4}), flute);
  EXPECT_EQ(moved, notes_of({low + 12, low + 14, low + 16}));
}

TEST(ReferenceNotes, StayWithinThePresetsRange) {
  const Preset& flute = find_preset("flute");
  const auto own = notes_of({flute.low, flute.low + 2, flute.high - 3});
  const auto moved = in_register_of(notes_of({flute.high}), own, flute);
  EXPECT_EQ(moved, notes_of({flute.low + 3, flute.low + 5, flute.high}));
  EXPECT_EQ(in_register_of({}, own, flute), own);
}

TEST(ReferenceNotes, CoverTheRangeFromLowToHigh) {
  const Preset& piano = find_preset("piano");
  for (uint64_t index = 0; index < 20; ++index) {
    const double seconds = 1 + 0.2 * static_cast<double>(index);
    const auto notes = low_to_high(piano, seconds, 1, index);
    ASSERT_GE(std::ssize(notes), static_cast<int64_t>(seconds));
    EXPECT_LE(std::ssize(notes), 1 + static_cast<int64_t>(seconds / 0.33));
    EXPECT_TRUE(std::ranges::is_sorted(notes, {}, &Note::pitch));
    const int part = (piano.high - piano.low + 1) / static_cast<int>(notes.size());
    EXPECT_GE(notes.front().pitch, piano.low);
    EXPECT_LE(notes.front().pitch, piano.low + part + 1);
    EXPECT_LE(notes.back().pitch, piano.high);
    EXPECT_GE(notes.back().pitch, piano.high - part - 1);
    for (size_t i = 0; i < notes.size(); ++i) {
      EXPECT_LT(notes[i].start_s, seconds);
      if (i > 0) {
        EXPECT_LE(notes[i - 1].end_s, notes[i].start_s + 1e-9);
      }
    }
  }
}

TEST(ReferenceNotes, OfAKindThatIsOffLeaveTheOthersAsTheyAre) {
  constexpr uint64_t kCount = 400;
  std::map<ReferenceKind, int> kinds;
  for (uint64_t index = 0; index < kCount; ++index) {
    const auto both = draw_reference_kind({}, 1, index);
    const auto one = draw_reference_kind({.same_register = 0}, 1, index);
    ++kinds[both];
    EXPECT_EQ(one, both == ReferenceKind::kSameRegister ? ReferenceKind::kMelody : both);
  }
  EXPECT_NEAR(kinds[ReferenceKind::kMelody], 200, 35);
  EXPECT_NEAR(kinds[ReferenceKind::kSameRegister], 100, 30);
}

}  // namespace
}  // namespace hum::data
