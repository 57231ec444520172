#include "data/stems/render.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "data/stems/roles.h"
#include "data/stems/testing_impl.h"
#include "data/stems/window_parts_impl.h"

namespace hum::data {
namespace {

using ::testing::UnorderedElementsAre;

std::set<std::string> present(const StemWindow& window) {
  std::set<std::string> names;
  for (const Stem stem : kStems) {
    if (!window.stems[static_cast<size_t>(stem)].empty()) names.emplace(to_name(stem));
  }
  return names;
}

StemWindow rendered(const StemOptions& options, uint64_t index) {
  const SongSource source(options, testing::small_bands());
  return StemRenderer(options, source).render(index);
}

TEST(WindowParts, HoldTheNotesOfTheWindowAndItsLeadIn) {
  const auto song = testing::small_band();
  const auto parts = internal::window_parts(song, roles_of(song), 8, 3);
  ASSERT_EQ(parts.size(), 5U);
  EXPECT_EQ(parts[0].stem, Stem::kLead);
  EXPECT_EQ(parts[1].stem, Stem::kChordal);
  EXPECT_EQ(parts[4].stem, Stem::kOther);
  EXPECT_EQ(parts[0].notes.size(), 12U);  // of 6 s
  EXPECT_DOUBLE_EQ(parts[0].notes[0].start_s, 0);
  EXPECT_EQ(parts[0].notes[0].pitch, song.parts[0].notes[10].pitch);
}

TEST(StemRenderer, RendersEveryPartIntoItsStem) {
  StemOptions options = testing::small_options();
  options.sung_share = 0;
  const StemWindow window = rendered(options, 3);
  EXPECT_THAT(present(window), UnorderedElementsAre("drums", "bass", "lead", "chordal", "other"));
  EXPECT_EQ(window.description.at("silent"), Json::array({"vocals"}));
  EXPECT_EQ(window.description.at("parts").size(), 5U);
  std::vector<int> sum(static_cast<size_t>(2 * 3 * kStemRate));
  for (const auto& stem : window.stems) {
    if (stem.empty()) continue;
    ASSERT_EQ(stem.size(), sum.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += stem[i];
  }
  for (const int value : sum) ASSERT_LT(std::abs(value), 32768);
  for (const Stem stem : kStems) {
    const auto& notes = window.notes[static_cast<size_t>(stem)];
    EXPECT_EQ(notes.empty(), stem == Stem::kVocals) << to_name(stem);
    for (const audio::Note& note : notes) EXPECT_TRUE(note.start_s >= 0 && note.start_s < 3);
  }
  EXPECT_EQ(rendered(options, 3).stems, window.stems);
  EXPECT_NE(rendered(options, 4).stems, window.stems);
}

TEST(StemRenderer, AWindowIsTheSameWhateverWasRenderedBefore) {
  const StemOptions options = testing::small_options();
  const SongSource source(options, testing::small_bands());
  StemRenderer used(options, source);
  for (const uint64_t index : {2, 1, 0}) {
    EXPECT_EQ(used.render(index).stems, rendered(options, index).stems) << index;
  }
}

TEST(StemRenderer, AVoiceTakesTheLeadOfSungSongs) {
  StemOptions options = testing::small_options();
  options.sung_share = 1;
  const StemWindow window = rendered(options, 3);
  EXPECT_THAT(present(window), UnorderedElementsAre("drums", "bass", "vocals", "chordal", "other"));
  EXPECT_TRUE(window.description.at("sung"));
}

TEST(StemRenderer, LeadAndChordsAreSometimesOfTheSynthesizer) {
  StemOptions options = testing::small_options();
  options.synth_share = 1;
  options.sung_share = 0;
  const StemWindow window = rendered(options, 1);
  for (const Json& part : window.description.at("parts")) {
    const bool can_be = part.at("stem") == "lead" || part.at("stem") == "chordal";
    EXPECT_EQ(part.contains("synthesizer"), can_be) << to_text(part);
  }
}

}  // namespace
}  // namespace hum::data
