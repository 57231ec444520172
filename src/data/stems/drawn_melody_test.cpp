#include "data/stems/drawn_melody.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/stems/roles.h"

namespace hum::data {
namespace {

// The share of the notes that belong to the major scale on `tonic`.
double share_in_major(const std::vector<audio::Note>& notes, int tonic) {
  const std::set<int> scale = {0, 2, 4, 5, 7, 9, 11};
  const auto inside = std::ranges::count_if(notes, [&](const audio::Note& note) {
    return scale.contains((note.pitch - tonic + 120) % 12);
  });
  return static_cast<double>(inside) / static_cast<double>(notes.size());
}

TEST(DrawnMelody, HasTheKeyTheLengthAndTheRangeOfItsPlace) {
  const Preset& violin = find_preset("violin");
  for (uint64_t index = 0; index < 12; ++index) {
    const int key = static_cast<int>(index);
    // Modes of major have one strange note at most, those of minor one against its relative.
    for (const bool is_minor : {false, true}) {
      const auto notes = melody_at({key, is_minor, 100, 40}, violin, 5, index);
      ASSERT_GT(notes.size(), 10U);
      EXPECT_GT(share_in_major(notes, is_minor ? key + 3 : key), 0.7) << key << is_minor;
      EXPECT_GT(notes.back().end_s, 25);
      for (const auto& note : notes) {
        EXPECT_LE(note.end_s, 40);
        EXPECT_GE(note.pitch, violin.low - 12);
        EXPECT_LE(note.pitch, violin.high + 12);
      }
    }
  }
  EXPECT_EQ(melody_at({0, false, 100, 40}, violin, 5, 1),
            melody_at({0, false, 100, 40}, violin, 5, 1));
}

TEST(DrawnMelody, IsALeadByTheRulesOnMostInstruments) {
  Rng rng(1, "test");
  int leads = 0;
  for (uint64_t index = 0; index < 40; ++index) {
    const Preset& preset = draw_lead_preset(Split::kTraining, rng);
    EXPECT_FALSE(preset.held_out);
    audio::MidiSong song;
    song.parts = {
        {.program = preset.program, .notes = melody_at({0, false, 100, 60}, preset, 1, index)}};
    const auto roles = roles_of(song);
    leads += std::ranges::count(roles[0], Stem::kLead, &RoleSpan::stem) > 0 ? 1 : 0;
  }
  EXPECT_GE(leads, 36);
  EXPECT_TRUE(draw_lead_preset(Split::kHeldOut, rng).held_out);
}

}  // namespace
}  // namespace hum::data
