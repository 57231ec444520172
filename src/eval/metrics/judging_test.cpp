// The metrics that judge a system, against their reference implementations
// (tools/golden/judging.py) and their definitions. Lists and arrays follow the tool's rule.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/testing/rule.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/chroma_cosine.h"
#include "eval/metrics/dac_losses.h"
#include "eval/metrics/frechet.h"
#include "eval/metrics/log_spectral_distance.h"
#include "eval/metrics/mel_distance.h"
#include "eval/metrics/note_score.h"
#include "eval/metrics/pitch_accuracy.h"
#include "eval/metrics/testing_impl.h"
#include "eval/metrics/token_scores.h"

namespace hum::eval {
namespace {

using audio::Note;
using hum::testing::ruled;
using testing::drawn;
using testing::kRateHz;
using testing::muffled_sweep;
using testing::trembling_sweep;
using testing::whole;

Json golden(const std::string& key) { return testing::golden("judging.json", key); }

Spectra spectra(std::span<const float> samples) { return spectra_of(samples, kRateHz); }

std::vector<Note> note_list(const std::string& name, size_t count) {
  auto starts = drawn(name + " start", count, 0, 4);
  std::ranges::sort(starts);
  if (whole(name + " grid", 1, 0, 2)[0] == 1) {
    for (double& start_s : starts) start_s = std::nearbyint(start_s / 0.05) * 0.05;
  }
  const auto lengths = drawn(name + " length", count, 0.05, 0.8);
  const auto pitches = whole(name + " pitch", count, 60, 66);
  std::vector<Note> notes;
  for (size_t i = 0; i < count; ++i) {
    notes.push_back({starts[i], starts[i] + lengths[i], pitches[i], 0.8, {}});
  }
  return notes;
}

std::vector<Note> perturbed(const std::string& name, const std::vector<Note>& notes) {
  const size_t count = notes.size();
  const auto jitter = drawn(name + " jitter", count, -0.1, 0.1);
  const auto shift = whole(name + " shift", count, 0, 5), move = whole(name + " move", count, 0, 6);
  const auto end = drawn(name + " end", count, -0.1, 0.1),
             keep = drawn(name + " keep", count, 0, 1);
  constexpr double kShifts[] = {0, 0, 0.05, -0.05, 0.1};
  constexpr int kMoves[] = {0, 0, 0, 0, 1, 12};
  std::vector<Note> result;
  for (size_t i = 0; i < count; ++i) {
    if (keep[i] < 0.15) continue;
    Note note = notes[i];
    note.start_s = std::max(0.0, note.start_s + (shift[i] == 0 ? jitter[i] : kShifts[shift[i]]));
    note.end_s = std::max(note.end_s + end[i], note.start_s + 0.02);
    note.pitch += kMoves[move[i]];
    result.push_back(note);
  }
  const auto extra = note_list(name + " extra", whole(name + " extras", 1, 0, 4)[0]);
  result.insert(result.end(), extra.begin(), extra.end());
  return result;
}

TEST(Notes, ScoreAsMirEvalScoresThemOnRandomLists) {
  const Json rows = golden("notes");
  ASSERT_GE(rows.size(), 200u);
  int with_matches = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string name = std::to_string(i);
    const auto reference =
        note_list("notes " + name, whole("notes " + name + " count", 1, 1, 23)[0]);
    const auto estimate = perturbed("heard " + name, reference);
    for (const bool with_offsets : {false, true}) {
      NoteScoreOptions options;
      if (with_offsets) options.offset_ratio = 0.2;
      const NoteScore score = score_notes(reference, estimate, options);
      const size_t at = with_offsets ? 3 : 0;
      EXPECT_NEAR(score.precision, rows[i][at], 1e-9);
      EXPECT_NEAR(score.recall, rows[i][at + 1], 1e-9);
      EXPECT_NEAR(score.f1, rows[i][at + 2], 1e-9);
      with_matches += score.matched > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(with_matches, 300);
}

TEST(PitchAccuracy, IsMirEvals) {
  const Json rows = golden("pitch_accuracy");
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string name = std::to_string(i);
    const auto voiced = drawn("voiced " + name, 200, 0, 1);
    const auto jump = drawn("jump " + name, 200, 0, 1), heard = drawn("heard " + name, 200, 0, 1);
    const auto octave = whole("octave " + name, 200, -1, 2);
    auto reference = drawn("track " + name, 200, 80, 900);
    auto estimate = drawn("error " + name, 200, -60, 60);  // cents, then Hz
    for (size_t t = 0; t < reference.size(); ++t) {
      if (voiced[t] >= 0.8) reference[t] = 0;
      const double cents = estimate[t] + (jump[t] < 0.2 ? 1200 * octave[t] : 0);
      estimate[t] = heard[t] < 0.9 ? reference[t] * std::exp2(cents / 1200) : 0;
    }
    const PitchAccuracy accuracy = pitch_accuracy(reference, estimate);
    EXPECT_NEAR(accuracy.raw_pitch, rows[i][0], 1e-12) << i;
    EXPECT_NEAR(accuracy.raw_chroma, rows[i][1], 1e-12) << i;
    EXPECT_LT(accuracy.raw_pitch, accuracy.raw_chroma) << i;
  }
}

TEST(PitchAccuracy, OfASoundKnowsOctavesFromPitches) {
  const std::vector<Note> notes{{0.1, 1.9, 69, 0.8, {}}};
  const auto low = pitch_accuracy(audio::tone(220, 2, kRateHz), kRateHz, notes);
  EXPECT_LT(low.raw_pitch, 0.02);
  EXPECT_GT(low.raw_chroma, 0.98);
  EXPECT_GT(pitch_accuracy(audio::tone(440, 2, kRateHz), kRateHz, notes).raw_pitch, 0.98);
  EXPECT_EQ(pitch_accuracy(std::vector<float>(44100), kRateHz, notes).raw_chroma, 0);
  EXPECT_EQ(pitch_accuracy(audio::tone(440, 2, kRateHz), kRateHz, {}).frames, 0);
  EXPECT_THROW(pitch_accuracy(std::vector<double>{1}, std::vector<double>{}), Error);
}

TEST(DacLosses, AreDacs) {
  const Json expected = golden("dac");
  const auto a = spectra(trembling_sweep()), b = spectra(muffled_sweep());
  EXPECT_NEAR(dac_training_mel(a, b), expected["training_mel"], 2e-4);
  EXPECT_NEAR(dac_mel(a, b), expected["mel"], 2e-4);
  EXPECT_NEAR(dac_stft(a, b), expected["stft"], 5e-4);
}

TEST(DacLosses, SeeLevelsAndAreZeroForACopy) {
  const auto a = trembling_sweep();
  auto quiet = a;
  for (float& sample : quiet) sample *= 0.1F;
  const auto own = spectra(a);
  EXPECT_GT(dac_training_mel(own, spectra(quiet)), 3);
  EXPECT_EQ(dac_mel(own, own), 0);
  EXPECT_EQ(dac_stft(own, own), 0);
  EXPECT_EQ(dac_stft(spectra({}), spectra({})), 0);
}

TEST(StftDistance, AgreesWithLibrosaAndDoesNotSeeLevels) {
  const auto a = trembling_sweep();
  EXPECT_NEAR(stft_distance(spectra(a), spectra(muffled_sweep())), golden("stft_distance"), 1e-4);
  auto quiet = a;
  for (float& sample : quiet) sample *= 0.1F;
  EXPECT_LT(stft_distance(spectra(a), spectra(quiet)), 1e-4);
}

TEST(LogSpectralDistance, AgreesWithLibrosa) {
  const auto a = trembling_sweep(), b = muffled_sweep();
  EXPECT_NEAR(log_spectral_distance_db(a, b, kRateHz), golden("log_spectral_distance_db"), 2e-3);
  EXPECT_EQ(log_spectral_distance_db(a, a, kRateHz), 0);
  EXPECT_GT(log_spectral_distance_db(a, {}, kRateHz), 20);
}

TEST(ChromaCosine, IsMusicGens) {
  const auto sweep = audio::test_signal(4 * kRateHz, kRateHz);
  std::vector<float> late(kRateHz / 4);
  late.insert(late.end(), sweep.begin(), sweep.end() - kRateHz / 4);
  const Json expected = golden("chroma");
  EXPECT_EQ(Json(chroma_classes(sweep, kRateHz)), expected["sweep"]);
  EXPECT_EQ(Json(chroma_classes(late, kRateHz)), expected["late"]);
  EXPECT_NEAR(chroma_cosine(chroma_classes(sweep, kRateHz), chroma_classes(late, kRateHz)),
              expected["cosine"], 1e-12);
}

TEST(ChromaCosine, KnowsPitchClassesFromC) {
  const auto tone = [](double hz, double seconds) {
    return chroma_classes(audio::tone(hz, seconds, kRateHz), kRateHz);
  };
  const auto a = tone(440, 2), c = tone(261.63, 2);
  EXPECT_EQ(a[5], 9);
  EXPECT_EQ(c[5], 0);
  EXPECT_EQ(chroma_cosine(a, tone(880, 2)), 1);
  EXPECT_EQ(chroma_cosine(a, c), 0);
  EXPECT_EQ(tone(440, 0.2).size(), 2u);
  EXPECT_EQ(chroma_cosine({}, {}), 0);
}

audio::Matrix<float> matrix(int64_t rows, int64_t columns, std::vector<float> values) {
  audio::Matrix<float> result(rows, columns);
  result.values = std::move(values);
  return result;
}

TEST(Frechet, AgreesWithScipy) {
  const Json expected = golden("frechet");
  const auto a = matrix(40, 6, ruled("frechet a", 240));
  const auto b = matrix(30, 6, expected["b"].get<std::vector<float>>());
  EXPECT_NEAR(frechet_distance(a, b), expected["distance"], 1e-6);
  EXPECT_NEAR(frechet_distance(b, a), expected["distance"], 1e-6);
  EXPECT_NEAR(frechet_distance(a, a), 0, 1e-9);
}

TEST(Frechet, OfShiftedSetsIsTheSquaredShift) {
  auto a = matrix(20, 4, ruled("shifted", 80)), b = a;
  for (float& value : b.values) value += 0.5F;
  EXPECT_NEAR(frechet_distance(a, b), 1, 1e-6);
  EXPECT_THROW(frechet_distance(a, matrix(80, 1, ruled("x", 80))), Error);
  EXPECT_THROW(frechet_distance(a, matrix(1, 4, ruled("x", 4))), Error);
}

// A model that diverged is not a perfect one.
TEST(Scores, OfWhatIsNotANumberAreNotGood) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(top_k_accuracy(std::vector<float>(12, nan), 12, std::vector<int32_t>{3}, 10), 0);
  auto a = matrix(20, 4, ruled("shifted", 80)), b = a;
  b.values[7] = nan;
  EXPECT_FALSE(frechet_distance(a, b) >= 0);
}

TEST(TokenScores, AgreeWithScikitLearn) {
  const auto logits = ruled("logits", 600);
  const auto targets = whole("targets", 50, 0, 12);
  const Json expected = golden("top_k");
  size_t i = 0;
  for (const int64_t k : {1, 3, 10}) {
    EXPECT_NEAR(top_k_accuracy(logits, 12, targets, k), expected[i++], 1e-12);
  }
  EXPECT_EQ(top_k_accuracy(logits, 12, targets, 12), 1);
  EXPECT_NEAR(mean_cross_entropy(logits, 12, targets), golden("cross_entropy"), 1e-6);
  EXPECT_THROW(top_k_accuracy(logits, 11, targets, 1), Error);
  EXPECT_THROW(mean_cross_entropy(logits, 11, targets), Error);
  EXPECT_THROW(top_k_accuracy(logits, 12, std::vector<int32_t>(50, 12), 1), Error);
}

TEST(Bootstrap, IsScipysOnTheSameResamples) {
  auto values = drawn("clips", 25, 0, 2);
  for (double& value : values) value = value * value * value;
  const auto resamples = whole("resamples", 500 * 25, 0, 25);
  const Json expected = golden("bootstrap");
  const auto mean = [&](std::span<const int32_t> clips) {
    double sum = 0;
    for (const int32_t clip : clips) sum += values[static_cast<size_t>(clip)];
    return sum / static_cast<double>(clips.size());
  };
  const Interval percentile = percentile_interval(25, resamples, mean);
  EXPECT_NEAR(percentile.low, expected["percentile"][0], 1e-9);
  EXPECT_NEAR(percentile.high, expected["percentile"][1], 1e-9);
  const Interval bca = mean_interval(values, resamples);
  EXPECT_NEAR(bca.value, expected["mean"], 1e-9);
  EXPECT_NEAR(bca.low, expected["BCa"][0], 1e-9);
  EXPECT_NEAR(bca.high, expected["BCa"][1], 1e-9);
  EXPECT_NE(bca.low, percentile.low);
}

TEST(Bootstrap, CoversTheTruthAsOftenAsItSays) {
  const auto resamples = draw_resamples(30, {.resamples = 400});
  int covered = 0;
  for (int i = 0; i < 300; ++i) {
    const auto interval =
        mean_interval(drawn("coverage " + std::to_string(i), 30, -1, 1), resamples);
    covered += interval.low <= 0 && interval.high >= 0 ? 1 : 0;
  }
  EXPECT_NEAR(covered / 300.0, 0.94, 0.035);
}

TEST(Bootstrap, PairedDifferencesDoNotSeeHowHardTheClipsAre) {
  const auto hardness = drawn("hardness", 40, 0, 100), gain = drawn("gain", 40, 0.5, 1.5);
  std::vector<double> better(40);
  for (size_t i = 0; i < 40; ++i) better[i] = hardness[i] + gain[i];
  const auto resamples = draw_resamples(40, {});
  EXPECT_LT(mean_interval(better, resamples).low, mean_interval(hardness, resamples).high);
  const Interval difference = mean_interval(gain, resamples);
  EXPECT_GT(difference.low, 0.8);
  EXPECT_LT(difference.high, 1.2);
}

TEST(Bootstrap, DrawsBySeedAndKnowsItsLimits) {
  EXPECT_EQ(draw_resamples(9, {.seed = 4}), draw_resamples(9, {.seed = 4}));
  EXPECT_NE(draw_resamples(9, {.seed = 4}), draw_resamples(9, {.seed = 5}));
  EXPECT_THAT(draw_resamples(3, {}),
              ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Le(2))));
  const Interval constant = mean_interval(std::vector<double>(5, 2.5), draw_resamples(5, {}));
  EXPECT_EQ(constant.low, 2.5);
  EXPECT_EQ(constant.high, 2.5);
  const Interval one = mean_interval(std::vector<double>{3}, draw_resamples(1, {}));
  EXPECT_EQ(one.value, 3);
  EXPECT_TRUE(std::isnan(one.low));
  EXPECT_TRUE(std::isnan(mean_interval({}, {}).value));
  EXPECT_THROW(mean_interval(std::vector<double>{1, 2}, std::vector<int32_t>{0}), Error);
}

}  // namespace
}  // namespace hum::eval
