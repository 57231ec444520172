// Figures of separated stems against museval, mir_eval and their definitions
// (tools/golden/separation.py), and on sounds whose figures are known.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "eval/metrics/bss_eval.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/stem_figures.h"
#include "eval/metrics/testing_impl.h"
#include "eval/metrics/testing_separation.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;
using testing::Separation;
using testing::separation_of;

constexpr double kWholeError_db = 1e-6, kFrameError_db = 1e-4;
constexpr std::pair<const char*, std::vector<double> BssScores::*> kParts[] = {
    {"SDR", &BssScores::sdr},
    {"ISR", &BssScores::isr},
    {"SIR", &BssScores::sir},
    {"SAR", &BssScores::sar}};

Json golden(const std::string& key) { return testing::golden("separation.json", key); }

Json rule(const std::string& name) {
  for (const Json& row : golden("cases")) {
    if (row["name"] == name) return row;
  }
  return {};
}

AudioBuffer ruled_sound(const std::string& name, int channels, size_t frames, double level = 1) {
  return {8000, channels,
          hum::testing::ruled(name, frames * static_cast<size_t>(channels), -level, level)};
}

std::vector<float> sum_of(const std::vector<AudioBuffer>& sounds) {
  std::vector<float> sum(sounds[0].samples.size());
  for (const AudioBuffer& sound : sounds) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += sound.samples[i];
  }
  return sum;
}

TEST(StemFigures, AreThoseOfTheirDefinitions) {
  for (const Json& row : golden("cases")) {
    SCOPED_TRACE(row["name"]);
    const Separation sounds = separation_of(row);
    const auto mixture = sum_of(sounds.references);
    for (size_t stem = 0; stem < sounds.references.size(); ++stem) {
      const auto &truth = sounds.references[stem].samples, &heard = sounds.estimates[stem].samples;
      EXPECT_NEAR(sdr_db(truth, heard), row["sdr"][stem], kWholeError_db);
      EXPECT_NEAR(si_sdr_db(truth, heard), row["si_sdr"][stem], kWholeError_db);
      // The mixture's samples are rounded to float.
      EXPECT_NEAR(si_sdr_db(truth, mixture), row["mixture_si_sdr"][stem], 1e-4);
      EXPECT_NEAR(Bleed(sounds.references).db(stem, sounds.estimates[stem]), row["bleed_db"][stem],
                  1e-5);
      if (row.contains("whole")) {
        EXPECT_NEAR(sdr_db(truth, heard), row["whole"]["SDR"][stem], kWholeError_db);
      }
    }
  }
}

TEST(BssEval, IsMusevals) {
  for (const Json& row : golden("cases")) {
    SCOPED_TRACE(row["name"]);
    const Separation sounds = separation_of(row);
    const auto scores =
        BssEval(sounds.references, row["window"].get<int64_t>(), 2).score(sounds.estimates);
    for (const auto& [name, part] : kParts) {
      for (size_t stem = 0; stem < scores.size(); ++stem) {
        SCOPED_TRACE(fmt::format("{} of stem {}", name, stem));
        const Json& expected = row["frames"][name][stem];
        const std::vector<double>& frames = scores[stem].*part;
        ASSERT_EQ(frames.size(), expected.size());
        for (size_t frame = 0; frame < frames.size(); ++frame) {
          if (expected[frame].is_null()) {
            EXPECT_TRUE(std::isnan(frames[frame])) << frame;
          } else {
            EXPECT_NEAR(frames[frame], expected[frame], kFrameError_db) << frame;
          }
        }
        EXPECT_NEAR(median_of_frames(frames), row["medians"][name][stem], kFrameError_db);
      }
    }
  }
}

TEST(BssEval, OfOneLongFrameIsMirEvals) {
  int cases = 0;
  for (const Json& row : golden("cases")) {
    if (!row.contains("whole")) continue;
    SCOPED_TRACE(row["name"]);
    const Separation sounds = separation_of(row);
    const auto scores =
        BssEval(sounds.references, row["samples"].get<int64_t>(), 1).score(sounds.estimates);
    for (const auto& [name, part] : kParts) {
      for (size_t stem = 0; stem < scores.size(); ++stem) {
        ASSERT_EQ((scores[stem].*part).size(), 1U);
        EXPECT_NEAR((scores[stem].*part)[0], row["whole"][name][stem], kFrameError_db) << name;
      }
    }
    ++cases;
  }
  EXPECT_GE(cases, 5);
}

// A stem that is silent all the time has no figures, and the others keep theirs.
TEST(BssEval, LeavesSilentStemsOut) {
  const Separation sounds = separation_of(rule("mono"));
  auto references = sounds.references, estimates = sounds.estimates;
  const auto before = BssEval(references, 8000, 1).score(estimates);
  references.push_back({8000, 1, std::vector<float>(references[0].samples.size())});
  estimates.push_back(estimates[0]);
  const auto after = BssEval(references, 8000, 1).score(estimates);
  EXPECT_EQ(after[0].sir, before[0].sir);
  EXPECT_EQ(after[1].sdr, before[1].sdr);
  EXPECT_THAT(after[2].sdr, ::testing::Each(::testing::IsNan()));

  estimates[0] = references[2];
  const auto without = BssEval(references, 8000, 1).score(estimates);
  EXPECT_THAT(without[0].sar, ::testing::Each(::testing::IsNan()));
  EXPECT_EQ(without[1].sir, before[1].sir);
}

TEST(BssEval, JudgesFiltersAsSpatialErrorAndOtherStemsAsInterference) {
  const std::vector<AudioBuffer> references{ruled_sound("a", 2, 20000), ruled_sound("b", 2, 20000)};
  auto estimates = references;
  for (size_t i = 0; i < estimates[0].samples.size(); ++i) {
    estimates[0].samples[i] = i < 200 ? 0 : references[0].samples[i - 200];  // 100 frames later
    estimates[1].samples[i] += 0.1F * references[0].samples[i];
  }
  const auto scores = BssEval(references, 8000, 1).score(estimates);
  for (size_t frame = 0; frame < 2; ++frame) {
    EXPECT_LT(scores[0].sdr[frame], 0);
    EXPECT_GT(scores[0].sir[frame], 30);  // but for the song's end
    EXPECT_GT(scores[0].sar[frame], 15);  // but for the frame's ends
    EXPECT_NEAR(scores[1].sir[frame], 20, 0.5);
    EXPECT_NEAR(scores[1].sdr[frame], 20, 0.2);
    EXPECT_GT(scores[1].sar[frame], 60);
  }
}

TEST(BssEval, DoesNotDependOnTheThreads) {
  const Separation sounds = separation_of(rule("stereo"));
  const auto one = BssEval(sounds.references, 8000, 1).score(sounds.estimates);
  const auto many = BssEval(sounds.references, 8000, 9).score(sounds.estimates);
  for (size_t frame = 0; frame < 3; ++frame) {
    EXPECT_NEAR(one[1].sar[frame], many[1].sar[frame], 1e-9);
  }
}

TEST(BssEval, RefusesSoundsThatDoNotFit) {
  const std::vector<AudioBuffer> references{ruled_sound("a", 1, 900), ruled_sound("b", 1, 900)};
  const BssEval judge(references, 300, 1);
  EXPECT_EQ(judge.frames(), 3);
  EXPECT_THROW(judge.score(std::vector<AudioBuffer>(1)), Error);
  EXPECT_THROW(judge.score(std::vector{references[0], ruled_sound("b", 1, 899)}), Error);
  EXPECT_THROW(judge.score(std::vector{references[0], ruled_sound("b", 2, 450)}), Error);
  EXPECT_THROW(BssEval(references, 0, 1), Error);
  EXPECT_THROW(BssEval({}, 300, 1), Error);
  const std::vector<AudioBuffer> uneven{ruled_sound("a", 1, 900), ruled_sound("b", 1, 901)};
  EXPECT_THROW(BssEval(uneven, 300, 1), Error);
}

TEST(BssEval, MedianSkipsFramesThatHaveNoFigure) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(median_of_frames(std::vector{3.0, kNone, 1.0, kInfinite, 2.0, -kInfinite}), 2);
  EXPECT_TRUE(std::isnan(median_of_frames(std::vector{kNone, kInfinite})));
}

TEST(StemFigures, KnowCopiesAndSilence) {
  const auto sound = ruled_sound("a", 1, 100).samples;
  const std::vector<float> nothing(100);
  EXPECT_EQ(sdr_db(sound, sound), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sdr_db(sound, nothing), 0);
  EXPECT_TRUE(std::isnan(sdr_db(nothing, sound)));
  EXPECT_EQ(level_dbfs(nothing), -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(level_dbfs(std::vector<float>{0.1F, -0.1F}), -20, 1e-5);
  EXPECT_THROW(sdr_db(sound, std::vector<float>(99)), Error);
}

TEST(StemFigures, MeasureTheLevelWhereAStemIsSilent) {
  AudioBuffer truth{100, 2, std::vector<float>(1000)}, heard = truth;
  for (size_t i = 0; i < 1000; ++i) {
    truth.samples[i] = i < 400 ? 0.5F : 1e-4F;  // -80 dBFS counts as silence
    heard.samples[i] = i < 400 ? 0.5F : 0.01F;
  }
  EXPECT_NEAR(level_in_silence_dbfs(truth, heard, 100), -40, 1e-4);
  EXPECT_TRUE(std::isnan(level_in_silence_dbfs(heard, heard, 100)));
  EXPECT_NEAR(level_in_silence_dbfs({100, 1, {0, 0}}, {100, 1, {0.1F, 0.1F}}, 100), -20, 1e-5);
}

TEST(StemFigures, BleedIsWhatIsLeftOfTheOthers) {
  const std::vector<AudioBuffer> references{
      ruled_sound("a", 1, 4000), ruled_sound("b", 1, 4000, 0.1), ruled_sound("c", 1, 4000, 1e-3)};
  AudioBuffer mixture{8000, 1, sum_of(references)};
  EXPECT_NEAR(Bleed(references).db(0, mixture), 0, 1e-4);
  EXPECT_LT(Bleed(references).db(0, references[0]), -200);
  AudioBuffer tenth = references[0];
  for (size_t i = 0; i < 4000; ++i) {
    tenth.samples[i] += 0.1F * (mixture.samples[i] - references[0].samples[i]);
  }
  EXPECT_NEAR(Bleed(references).db(0, tenth), -20, 1e-3);
  const std::vector<AudioBuffer> alone{references[0], {8000, 1, std::vector<float>(4000)}};
  EXPECT_TRUE(std::isnan(Bleed(alone).db(0, mixture)));
  EXPECT_LT(Bleed(alone).db(1, mixture), 1);
}

}  // namespace
}  // namespace hum::eval
