// Every metric against its reference implementation (tools/golden/metrics.py) and its own
// definition.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "audio/pitch.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/rng.h"
#include "eval/metrics/chroma.h"
#include "eval/metrics/codebook_use.h"
#include "eval/metrics/envelope.h"
#include "eval/metrics/mel_distance.h"
#include "eval/metrics/note_score.h"
#include "eval/metrics/octave_bands.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/testing_impl.h"
#include "eval/metrics/timbre.h"

namespace hum::eval {
namespace {

using audio::Note;
using audio::test_signal;
using audio::tone;

using testing::kRateHz;
using testing::muffled_sweep;
using testing::trembling_sweep;

Json golden(const std::string& key) { return testing::golden("metrics.json", key); }

std::vector<Note> notes_from(const Json& list) {
  std::vector<Note> notes;
  for (const Json& n : list) notes.push_back({n[0], n[1], n[2], 0.8, {}});
  return notes;
}

void expect_score(const NoteScore& score, const Json& expected) {
  EXPECT_NEAR(score.precision, expected[0], 1e-12);
  EXPECT_NEAR(score.recall, expected[1], 1e-12);
  EXPECT_NEAR(score.f1, expected[2], 1e-12);
}

TEST(NoteScore, IsMirEvalsToTwelveDigits) {
  const Json cases = golden("notes");
  ASSERT_EQ(cases.size(), 40u);
  for (const Json& row : cases) {
    const auto reference = notes_from(row["reference"]), estimate = notes_from(row["estimate"]);
    expect_score(score_notes(reference, estimate), row["onset50"]);
    expect_score(score_notes(reference, estimate, {.onset_tolerance_s = 0.1}), row["onset100"]);
    expect_score(score_notes(reference, estimate, {.offset_ratio = 0.2}), row["offset"]);
    EXPECT_NEAR(score_notes(reference, estimate, {.best_octave = true}).f1, row["best_octave_f1"],
                1e-12);
  }
}

TEST(NoteScore, TheOctaveShiftIsOneForAllNotes) {
  const std::vector<Note> reference{{0, 1, 60, 1, {}}, {1, 2, 62, 1, {}}, {2, 3, 64, 1, {}}};
  std::vector<Note> estimate = reference;
  for (Note& note : estimate) note.pitch -= 12;
  EXPECT_EQ(score_notes(reference, estimate).f1, 0);
  const NoteScore score = score_notes(reference, estimate, {.best_octave = true});
  EXPECT_EQ(score.f1, 1);
  EXPECT_EQ(score.octave_shift_semitones, 12);
  estimate[0].pitch += 12;
  EXPECT_NEAR(score_notes(reference, estimate, {.best_octave = true}).f1, 2.0 / 3, 1e-12);
}

TEST(NoteScore, TheMatchingPairsNearestOnsets) {
  const std::vector<Note> reference = {{1.0, 2, 60, 0.8, {}}, {2.0, 3, 62, 0.8, {}}};
  const std::vector<Note> estimate = {
      {0.96, 1, 60, 0.8, {}}, {1.01, 2, 60, 0.8, {}}, {2.04, 3, 62, 0.8, {}}};
  const auto matches = match_notes(reference, estimate);
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].reference, 0U);
  EXPECT_EQ(matches[0].estimate, 1U);
  EXPECT_EQ(matches[1].reference, 1U);
  EXPECT_EQ(matches[1].estimate, 2U);
}

TEST(NoteScore, APitchIsSungAsItsHzOrTheMedianOfItsBends) {
  const std::vector<Note> notes = {
      {0, 1, 57, 0.8, {}, 225}, {1, 2, 57, 0.8, {0, 3, 3, 9}}, {2, 3, 57, 0.8, {}}};
  const auto sung = as_sung(notes), written = as_written(notes);
  EXPECT_EQ(sung[0].hz, 225);
  EXPECT_NEAR(sung[1].hz, audio::midi_to_hz(58), 1e-9);
  EXPECT_NEAR(sung[2].hz, 220, 1e-9);
  for (const PitchedNote& note : written) EXPECT_NEAR(note.hz, 220, 1e-9);
}

TEST(NoteScore, SungPitchesAreComparedInCents) {
  const std::vector<PitchedNote> reference = {{0, 1, 220}, {1, 2, 440}, {2, 3, 330}};
  std::vector<PitchedNote> estimate = reference;
  const auto by_cents = [](double hz, double cents) { return hz * std::exp2(cents / 1200); };
  estimate[0].hz = by_cents(220, 50);  // exactly the tolerance
  estimate[1].hz = by_cents(440, -50);
  estimate[2].hz = by_cents(330, 50.01);
  const NoteScore score = score_notes(reference, estimate);
  EXPECT_EQ(score.matched, 2);
  EXPECT_NEAR(score.f1, 2.0 / 3, 1e-12);
  EXPECT_EQ(score_notes(reference, estimate, {.pitch_tolerance_cents = 51}).f1, 1);
  for (PitchedNote& note : estimate) note.hz /= 4;
  EXPECT_EQ(score_notes(reference, estimate).f1, 0);
  const NoteScoreOptions onsets{.pitch_tolerance_cents = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(score_notes(reference, estimate, onsets).f1, 1);
  const NoteScore moved = score_notes(reference, estimate, {.best_octave = true});
  EXPECT_EQ(moved.matched, 2);
  EXPECT_EQ(moved.octave_shift_semitones, 24);
}

TEST(NoteScore, EndsCountWithinAFifthOfTheNoteOr50Ms) {
  const std::vector<PitchedNote> reference = {{0, 1, 220}, {1, 1.1, 440}, {2, 3, 330}};
  const std::vector<PitchedNote> estimate = {{0, 1.2, 220}, {1, 1.15, 440}, {2, 2.79, 330}};
  EXPECT_EQ(score_notes(reference, estimate).matched, 3);
  const auto matches = match_notes(reference, estimate, {.offset_ratio = 0.2});
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].estimate, 0U);
  EXPECT_EQ(matches[1].estimate, 1U);
}

TEST(NoteScore, EmptyListsScoreZero) {
  const std::vector<Note> one{{0, 1, 60, 1, {}}};
  EXPECT_EQ(score_notes({}, one).f1, 0);
  EXPECT_EQ(score_notes(one, {}, {.best_octave = true}).f1, 0);
}

TEST(Yin, AgreesWithLibrosa) {
  const std::vector<double> expected = golden("yin");
  const auto track = audio::yin(test_signal(kRateHz / 2, kRateHz), kRateHz);
  ASSERT_EQ(track.hz.size(), expected.size());
  for (size_t t = 0; t < expected.size(); ++t) EXPECT_NEAR(track.hz[t] / expected[t], 1, 1e-4) << t;
}

TEST(Yin, TellsTonesFromNoiseAndSilence) {
  const auto track = audio::yin(tone(440, 1, kRateHz), kRateHz);
  EXPECT_NEAR(track.hz[40], 440, 1);
  EXPECT_LT(track.aperiodicity[40], 0.05);
  EXPECT_NEAR(track.frame_s * 40, 40 * 256.0 / kRateHz, 1e-12);
  Rng rng(1, "noise");
  std::vector<float> noise(kRateHz);
  for (float& sample : noise) sample = static_cast<float>(0.1 * rng.normal());
  EXPECT_GT(audio::yin(noise, kRateHz).aperiodicity[40], 0.4);
  const auto silence = audio::yin(std::vector<float>(5000), kRateHz);
  EXPECT_EQ(silence.aperiodicity[5], 1);
  EXPECT_EQ(silence.rms[5], 0);
  EXPECT_NEAR(track.rms[40], 0.5 / std::numbers::sqrt2, 0.01);
  EXPECT_THROW(audio::yin(noise, kRateHz, {.min_hz = 500, .max_hz = 400}), Error);
}

TEST(Chroma, ATuneSungInAnotherOctaveIsRightAndAWrongOneIsNot) {
  // A glide of a third, and a steady note after a rest.
  std::vector<int> glide;
  for (int i = 0; i < 87; ++i) glide.push_back(i * 12 / 86);
  const std::vector<Note> notes{{0.1, 1.1, 69, 0.8, glide}, {1.3, 1.9, 64, 0.8, {}}};
  std::vector<float> sound(2 * kRateHz);
  double phase = 0;
  for (size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / kRateHz;
    const bool is_sounding = (t > 0.1 && t < 1.1) || (t > 1.3 && t < 1.9);
    phase += 2 * std::numbers::pi * audio::midi_to_hz(pitch_at(notes[t < 1.2 ? 0 : 1], t) - 12) /
             kRateHz;
    sound[i] =
        is_sounding ? static_cast<float>(0.3 * std::sin(phase) + 0.1 * std::sin(2 * phase)) : 0;
  }
  const ChromaScore score = chroma_accuracy(sound, kRateHz, notes);
  EXPECT_GT(score.accuracy, 0.99);
  EXPECT_EQ(score.octave_shift_semitones, 12);
  EXPECT_NEAR(static_cast<double>(score.frames), (0.93 + 0.53) * kRateHz / 256, 3);

  auto steady = notes;
  steady[0].bends.clear();
  EXPECT_NEAR(chroma_accuracy(sound, kRateHz, steady).accuracy, (0.53 + 0.08) / 1.46, 0.03)
      << "without its bends the glide is wrong after an eighth of its length";
  auto wrong = notes;
  for (Note& note : wrong) note.pitch += 3;
  EXPECT_LT(chroma_accuracy(sound, kRateHz, wrong).accuracy, 0.05);
  EXPECT_EQ(chroma_accuracy(std::vector<float>(2 * kRateHz), kRateHz, notes).accuracy, 0);
  EXPECT_EQ(chroma_accuracy(sound, kRateHz, {}).frames, 0);
}

TEST(Timbre, AgreesWithLibrosa) {
  const auto sweep = timbre_of(trembling_sweep(), kRateHz);
  const std::vector<double> expected = golden("timbre");
  for (size_t k = 0; k < sweep.size(); ++k) EXPECT_NEAR(sweep[k], expected[k], 0.01);
  EXPECT_NEAR(timbre_distance(sweep, timbre_of(muffled_sweep(), kRateHz)),
              golden("timbre_distance"), 0.01);
}

TEST(Timbre, DoesNotMindLoudnessAndRests) {
  auto quiet = trembling_sweep();
  for (float& sample : quiet) sample *= 0.01f;
  const auto loud = timbre_of(trembling_sweep(), kRateHz);
  EXPECT_LT(timbre_distance(loud, timbre_of(quiet, kRateHz)), 0.1);
  auto with_rest = trembling_sweep();
  with_rest.resize(3 * with_rest.size());
  EXPECT_LT(timbre_distance(loud, timbre_of(with_rest, kRateHz)), 8);
  EXPECT_GT(timbre_distance(loud, timbre_of(tone(440, 1, kRateHz), kRateHz)), 40);
  EXPECT_EQ(timbre_of(std::vector<float>(1000), kRateHz), Timbre{});
}

TEST(MelDistance, AgreesWithLibrosa) {
  EXPECT_NEAR(mel_distance(trembling_sweep(), muffled_sweep(), kRateHz), golden("mel_distance"),
              1e-5);
}

TEST(MelDistance, IsZeroForTheSameSoundAtAnotherLevel) {
  auto quiet = trembling_sweep();
  for (float& sample : quiet) sample *= 0.1f;
  EXPECT_LT(mel_distance(trembling_sweep(), quiet, kRateHz), 1e-4);
  EXPECT_EQ(mel_distance({}, quiet, kRateHz), 0);
}

TEST(OctaveBands, AgreeWithOneFftOfTheWholeSound) {
  const auto bands = octave_bands(trembling_sweep(), muffled_sweep(), kRateHz);
  const std::vector<double> expected = golden("octave_differences");
  ASSERT_EQ(bands.size(), expected.size());
  // Only noise fills the bands outside the sweep's 110 to 1,910 Hz; windows leak into the lowest.
  for (size_t i = 2; i < bands.size(); ++i) {
    EXPECT_NEAR(bands[i].difference_db(), expected[i], 0.3) << bands[i].center_hz;
  }
}

TEST(OctaveBands, EnergyAppearsInItsOwnBandAtItsLevel) {
  const auto bands = octave_bands(tone(1000, 2, kRateHz, 1), tone(1000, 2, kRateHz, 0.5), kRateHz);
  EXPECT_DOUBLE_EQ(bands[5].center_hz, 1000);
  EXPECT_NEAR(bands[5].reference_db, -3.01, 0.1);
  EXPECT_NEAR(bands[5].difference_db(), -6.02, 0.01);
  EXPECT_LT(bands[3].reference_db, -45);
  EXPECT_NEAR(octave_band_difference_db(bands), 6.02, 0.01);
}

TEST(Envelope, AgreesWithNumpy) {
  EXPECT_NEAR(envelope_correlation(trembling_sweep(), muffled_sweep(), kRateHz),
              golden("envelope_correlation"), 1e-4);
}

TEST(Envelope, IsOneForACopyAndZeroForSilence) {
  const auto sound = trembling_sweep();
  EXPECT_NEAR(envelope_correlation(sound, sound, kRateHz), 1, 1e-12);
  EXPECT_EQ(envelope_correlation(sound, std::vector<float>(sound.size()), kRateHz), 0);
  EXPECT_EQ(envelope_correlation(sound, {}, kRateHz), 0);
}

TEST(CodebookUse, CountsBitsAndEntries) {
  std::vector<int32_t> all;
  for (int32_t i = 0; i < 1024; ++i) all.push_back(i);
  EXPECT_NEAR(codebook_entropy_bits(all, 1024), 10, 1e-9);
  EXPECT_NEAR(codebook_entropy_bits(std::vector<int32_t>{0, 0, 1, 2}, 1024), 1.5, 1e-12);
  EXPECT_EQ(codebook_entropy_bits(std::vector<int32_t>{7, 7}, 1024), 0);
  EXPECT_EQ(codebook_entropy_bits({}, 1024), 0);
  EXPECT_THROW(codebook_entropy_bits(std::vector<int32_t>{1024}, 1024), Error);
  EXPECT_EQ(codebook_share_used(all, 1024), 1);
  EXPECT_EQ(codebook_share_used(std::vector<int32_t>{0, 0, 1, 2}, 1024), 3.0 / 1024);
  EXPECT_EQ(codebook_share_used({}, 1024), 0);
  EXPECT_THROW(codebook_share_used(std::vector<int32_t>{-1}, 1024), Error);
}

TEST(SiSdr, MeetsTheAnchorsOfBothConventions) {
  const std::vector<float> target{3, -0.5, 2, 7}, estimate{2.5, 0, 2, 8};
  EXPECT_NEAR(si_sdr_db(target, estimate), 18.4030, 5e-5);
  EXPECT_NEAR(si_sdr_db(target, estimate, Mean::kRemove), 15.0918, 5e-5);
}

TEST(SiSdr, ScaleDoesNotMatterAndSilenceIsWorst) {
  const std::vector<float> target{3, -0.5, 2, 7}, zero(4);
  auto louder = std::vector<float>{5, 0, 4, 16};
  EXPECT_NEAR(si_sdr_db(target, louder), 18.4030, 5e-5);
  EXPECT_EQ(si_sdr_db(target, target), std::numeric_limits<double>::infinity());
  EXPECT_EQ(si_sdr_db(target, zero), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(si_sdr_db(zero, target), -std::numeric_limits<double>::infinity());
  EXPECT_THROW(si_sdr_db(target, std::vector<float>(3)), Error);
}

}  // namespace
}  // namespace hum::eval
