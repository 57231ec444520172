#include "eval/harness/hum_set.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "audio/dsp.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/harness/hum_score.h"
#include "pipeline/tuning.h"

namespace hum::eval {
namespace {

using audio::Note;

constexpr HumSetOptions kFew{.seed = 5, .count = 6, .seconds = 4};

std::vector<KnownHum> hums_of(HumKind kind) {
  std::vector<KnownHum> hums;
  for (int64_t i = 0; i < kFew.count; ++i) {
    hums.push_back(make_known_hum(kind, kFew, static_cast<uint64_t>(i)));
  }
  return hums;
}

TEST(HumSet, IsAFunctionOfItsOptions) {
  for (const HumKind kind : kHumKinds) {
    const auto first = make_known_hum(kind, kFew, 3), again = make_known_hum(kind, kFew, 3);
    EXPECT_EQ(first.samples, again.samples);
    EXPECT_EQ(first.notes, again.notes);
    EXPECT_EQ(std::ssize(first.samples), 4 * data::kSampleRate);
    EXPECT_NE(first.samples, make_known_hum(kind, kFew, 4).samples);
    EXPECT_NE(first.samples, make_known_hum(kind, {.seed = 6, .seconds = 4}, 3).samples);
  }
}

TEST(HumSet, NotesAreOneLineInAVoicesRange) {
  for (const HumKind kind : kHumKinds) {
    for (const KnownHum& hum : hums_of(kind)) {
      double end_s = 0;
      for (const Note& note : hum.notes) {
        EXPECT_GE(note.start_s, end_s);
        end_s = note.end_s;
        EXPECT_GE(note.pitch, data::kHumLow);
        EXPECT_LE(note.pitch, data::kHumHigh);
        EXPECT_TRUE(note.bends.empty());
      }
      EXPECT_LE(end_s, kFew.seconds);
    }
  }
}

TEST(HumSet, LegatoHasNoShortGapsAndManyRepeatedPitches) {
  int notes = 0, repeats = 0;
  for (const KnownHum& hum : hums_of(HumKind::kLegato)) {
    for (size_t i = 1; i < hum.notes.size(); ++i) {
      const double gap_s = hum.notes[i].start_s - hum.notes[i - 1].end_s;
      EXPECT_TRUE(gap_s == 0 || gap_s > 0.5) << gap_s;
      ++notes;
      repeats += hum.notes[i].pitch == hum.notes[i - 1].pitch ? 1 : 0;
    }
  }
  EXPECT_GT(repeats, notes / 6);
}

TEST(HumSet, OffTuneHumsAre40CentsSharpOrFlat) {
  std::map<bool, int> sharp;
  for (const KnownHum& hum : hums_of(HumKind::kOffTune)) {
    const double cents = pipeline::estimate_tuning(hum.samples).offset_cents;
    EXPECT_NEAR(std::fabs(cents), kOffTune_cents, 12);  // the singer drifts
    ++sharp[cents > 0];
  }
  EXPECT_EQ(sharp.size(), 2U);
}

// Energy between low_hz and high_hz relative to the total, in dB.
double share_db(std::span<const float> samples, double low_hz, double high_hz) {
  double inside = 0, all = 0;
  const auto power = audio::spectrogram(samples, {}, 2);
  for (int64_t t = 0; t < power.rows; ++t) {
    for (int64_t bin = 0; bin < power.columns; ++bin) {
      const double hz = static_cast<double>(bin) * data::kSampleRate / 2048;
      all += power(t, bin);
      if (hz >= low_hz && hz < high_hz) inside += power(t, bin);
    }
  }
  return 10 * std::log10(inside / all);
}

TEST(Phone, LeavesTheBandAloneAndAddsNoiseInIt) {
  const auto hum = make_known_hum(HumKind::kClean, kFew, 1).samples;
  const auto heard = through_phone(hum, kPhoneSnr_db, 5, 1);
  EXPECT_LT(share_db(heard, 0, kPhoneLow_hz - 70), -40);
  EXPECT_LT(share_db(heard, kPhoneHigh_hz + 70, 1e9), -40);

  const auto quiet = through_phone(hum, 200, 5, 1);
  std::vector<float> noise(heard.size());
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = heard[i] - quiet[i];
  EXPECT_NEAR(20 * std::log10(data::active_rms(quiet) / data::active_rms(noise)), kPhoneSnr_db,
              0.1);
  EXPECT_GT(share_db(noise, 1500, kPhoneHigh_hz), -4);  // white: more than half of the band
}

TEST(HumScore, KnownNotesAreRightAndForgivenOneShift) {
  const auto hums = hums_of(HumKind::kClean);
  std::vector<std::vector<Note>> heard;
  for (const KnownHum& hum : hums) {
    heard.push_back(hum.notes);
    for (Note& note : heard.back()) {
      note.pitch += 13;
      note.start_s += 0.02;
    }
  }
  const HumScore score = score_hums(hums, heard);
  EXPECT_DOUBLE_EQ(score.f1, 1);
  EXPECT_NEAR(score.onset_s.value(), 0.02, 1e-9);
  for (auto& notes : heard) notes[0].pitch += 1;  // the shift is per hum, not per note
  EXPECT_LT(score_hums(hums, heard).recall, 1);
}

TEST(HumScore, LateNotesShowInTheWideDistanceAlone) {
  const auto hums = hums_of(HumKind::kClean);
  std::vector<std::vector<Note>> heard;
  for (const KnownHum& hum : hums) {
    heard.push_back(hum.notes);
    for (Note& note : heard.back()) note.start_s += 0.08;
  }
  const HumScore score = score_hums(hums, heard);
  EXPECT_NEAR(score.wide_onset_s.value(), 0.08, 1e-9);
  EXPECT_LT(score.f1, 0.1);
  EXPECT_EQ(score_hums(hums, std::vector<std::vector<Note>>(hums.size())).onset_s, std::nullopt);
}

}  // namespace
}  // namespace hum::eval
