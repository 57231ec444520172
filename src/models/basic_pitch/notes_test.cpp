// Notes against basic-pitch itself: the stored output for a real singer, and synthetic posteriors
// with every option.
#include "models/basic_pitch/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "base/json.h"
#include "models/basic_pitch/test_data.h"

namespace hum::models::basic_pitch {
namespace {

using ::testing::HasSubstr;

// `golden` rows: [start_s, end_s, pitch, amplitude, [bends]].
void expect_notes(const std::vector<audio::Note>& notes, const Json& golden,
                  double amplitude_tolerance = 1e-6) {
  ASSERT_EQ(notes.size(), golden.size());
  for (size_t i = 0; i < notes.size(); ++i) {
    SCOPED_TRACE(fmt::format("note {}", i));
    EXPECT_NEAR(notes[i].start_s, golden[i][0].get<double>(), 1e-9);
    EXPECT_NEAR(notes[i].end_s, golden[i][1].get<double>(), 1e-9);
    EXPECT_EQ(notes[i].pitch, golden[i][2].get<int>());
    EXPECT_NEAR(notes[i].amplitude, golden[i][3].get<double>(), amplitude_tolerance);
    EXPECT_EQ(notes[i].bends, golden[i][4].get<std::vector<int>>());
  }
}

// Whole-number patterns that tools/golden/basic_pitch_notes.py makes in the same way: steady notes
// with sharp starts under noise, so that onsets, gaps, neighbours and ties all occur.
uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

Posteriors patterned_posteriors(int64_t frames, uint32_t seed) {
  Posteriors made{{frames, kPitches}, {frames, kPitches}, {frames, kContourBins}};
  for (uint32_t t = 0; t < static_cast<uint32_t>(frames); ++t) {
    for (uint32_t p = 0; p < kPitches; ++p) {
      const uint32_t span = 12 + mix(seed + p) % 40;
      const uint32_t shifted = t + mix(seed + 1000 + p) % 50;
      const uint32_t level = mix(seed + 5000 + shifted / span * 88 + p) & 0xffff;
      const uint32_t noise = mix(seed + 100000 + t * 88 + p) & 0x3fff;
      const uint32_t note = level > 0xd000 ? 0x4000 + level / 2 + noise / 2 : noise;
      const bool starts = shifted % span == 0 && level > 0xd800;
      const uint32_t onset = starts ? 0x8000 + noise : noise;
      made.note(t, p) = static_cast<float>(note) / 65536.0F;
      made.onset(t, p) = static_cast<float>(onset) / 65536.0F;
    }
    for (uint32_t b = 0; b < kContourBins; ++b) {
      made.contour(t, b) = static_cast<float>(mix(seed + 900000 + t * 264 + b) & 0xffff) / 65536.0F;
    }
  }
  return made;
}

NoteOptions options_of(const Json& golden) {
  NoteOptions options;
  from_json(golden, options);
  return options;
}

TEST(BasicPitchNotes, AreTheReferenceNotesOfARealSinger) {
  const Posteriors posteriors = test::stored_posteriors();
  ASSERT_EQ(posteriors.frames(), 787);
  const Json reference = test::stored_notes();
  ASSERT_EQ(reference.size(), 28u);
  // The stored events were made in another run than the stored posteriors.
  expect_notes(create_notes(posteriors), reference, /*amplitude_tolerance=*/1e-5);
}

TEST(BasicPitchNotes, FollowBasicPitchUnderEveryOption) {
  const Json golden = read_json(test::data_folder() / "patterned_notes.json");
  ASSERT_EQ(golden["cases"].size(), 7u);
  for (const auto& item : golden["cases"]) {
    SCOPED_TRACE(to_text(item["options"]));
    const auto posteriors =
        patterned_posteriors(item["frames"].get<int64_t>(), item["seed"].get<uint32_t>());
    EXPECT_GT(item["notes"].size(), 4u);
    expect_notes(create_notes(posteriors, options_of(item["options"])), item["notes"]);
  }
}

TEST(BasicPitchNotes, LoseBendsOnlyWhereTheyOverlap) {
  const Json golden = read_json(test::data_folder() / "patterned_notes.json");
  std::vector<audio::Note> notes;
  for (const auto& row : golden["overlaps"]["notes"]) {
    notes.push_back({row[0].get<double>(), row[1].get<double>(), row[2].get<int>(),
                     row[3].get<double>(), row[4].get<std::vector<int>>()});
  }
  const auto kept = drop_overlapping_pitch_bends(notes);
  expect_notes(kept, golden["overlaps"]["kept"]);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const auto& n) { return n.bends.empty(); }));
  EXPECT_TRUE(std::ranges::any_of(kept, [](const auto& n) { return !n.bends.empty(); }));
}

TEST(BasicPitchNotes, AreNoneInSilenceAndInTooFewFrames) {
  for (int64_t frames : {0, 1, 2, 40}) {
    const Posteriors silent{{frames, kPitches}, {frames, kPitches}, {frames, kContourBins}};
    EXPECT_TRUE(create_notes(silent).empty()) << frames;
  }
}

TEST(BasicPitchNotes, KeepPredictedOnsetsWhenNothingRises) {
  // A chord that has sounded since before the recording: basic-pitch divides 0 by 0 here.
  Posteriors held{{60, kPitches}, {60, kPitches}, {60, kContourBins}};
  for (int64_t t = 0; t < 60; ++t) held.note(t, 40) = 0.9F;
  held.onset(10, 40) = 0.8F;
  NoteOptions options;
  options.melodia = false;
  const auto notes = create_notes(held, options);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].pitch, 61);
  EXPECT_DOUBLE_EQ(notes[0].start_s, frame_to_seconds(10));
}

TEST(BasicPitchNotes, BendStaysInsideTheContourAtBothEnds) {
  Matrix<float> contour(30, kContourBins);
  for (int64_t t = 0; t < 30; ++t) {
    contour(t, 1) = 1.0F;
    contour(t, kContourBins - 1) = 1.0F;
  }
  EXPECT_EQ(pitch_bends(contour, {0, 30, kLowestPitch, 1.0F}), std::vector<int>(30, 1));
  EXPECT_EQ(pitch_bends(contour, {0, 30, kLowestPitch + 87, 1.0F}), std::vector<int>(30, 2));
}

TEST(BasicPitchNotes, RefuseOptionsOutOfRange) {
  const auto refused = [](auto change) {
    NoteOptions options;
    change(options);
    try {
      create_notes({}, options);
    } catch (const Error& error) {
      return error.code() == ExitCode::kUsage ? error.message() : std::string("wrong code");
    }
    return std::string("no error");
  };
  EXPECT_THAT(refused([](auto& o) { o.onset_threshold = 1.5; }), HasSubstr("--onset-threshold"));
  EXPECT_THAT(refused([](auto& o) { o.frame_threshold = -0.1; }), HasSubstr("--frame-threshold"));
  EXPECT_THAT(refused([](auto& o) { o.minimum_note_length_ms = -1; }),
              HasSubstr("--minimum-note-length"));
  EXPECT_THAT(refused([](auto& o) {
                o.minimum_frequency_hz = 500;
                o.maximum_frequency_hz = 400;
              }),
              HasSubstr("--maximum-frequency"));
}

TEST(BasicPitchNotes, RefusePosteriorsThatDoNotFitEachOther) {
  Posteriors broken{{10, kPitches}, {9, kPitches}, {10, kContourBins}};
  EXPECT_THROW(create_notes(broken), Error);
}

}  // namespace
}  // namespace hum::models::basic_pitch
