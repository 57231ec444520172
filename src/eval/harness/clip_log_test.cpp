// An evaluation that was stopped resumes with the clips in its log and ends with the same figures.
#include "eval/harness/clip_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "data/synthesis/timing.h"
#include "eval/harness/summary.h"

namespace hum::eval {
namespace {

constexpr size_t kClips = 4;

// Clips of a tone, which differ in pitch.
std::vector<TestClipPlan> plans() {
  std::vector<TestClipPlan> result(kClips);
  for (size_t i = 0; i < kClips; ++i) {
    result[i].preset = &data::find_preset("flute");
    result[i].melody = i;
  }
  return result;
}

TestClip make(const TestClipPlan& plan) {
  const int pitch = 60 + 2 * static_cast<int>(plan.melody);
  return {.plan = plan,
          .notes = {{0.1, 0.9, pitch, 0.8, {}}},
          .truth = audio::tone(audio::midi_to_hz(pitch), 1, data::kSampleRate)};
}

// The truth, and a noisy sweep. Neither is timed: times differ between runs.
std::vector<System> systems() {
  return {true_rendering(),
          {.name = "sweep", .what = "", .role = Role::kFloor, .play = [](const TestClip& clip) {
             return audio::test_signal(std::ssize(clip.truth), data::kSampleRate);
           }}};
}

Classification classify(std::span<const float> samples, const data::Preset&) {
  return {.embedding = {samples[100], samples[200]}, .logits = {1, 0}, .target = 0};
}

class Resumed : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "clips.jsonl"; }

  // Evaluates as a report does, and stops after `most` new clips.
  Json evaluated(size_t most = kClips, const Json& settings = {{"seed", 1}}) {
    const ClipLog log(file(), settings);
    std::vector<ClipResults> known;
    for (const Json& clip : log.earlier()) known.push_back(clip_results(clip));
    known_ = known.size();
    judged_ = 0;
    const Evaluation evaluation =
        evaluate(plans(), make, systems(),
                 {[](std::span<const float>) {
                    return std::vector<audio::Note>{{0.1, 0.9, 62, 1, {}}};
                  },
                  classify},
                 {.progress =
                      [&](size_t) {
                        if (judged_ == most) fail(ExitCode::kFailure, "stopped");
                      },
                  .heard = {},
                  .judged =
                      [&](size_t, const ClipResults& results) {
                        ++judged_;
                        log.add(clip_json(results));
                      }},
                 known);
    return summarise(evaluation, {.resamples = 100});
  }

  ScratchFolder folder_;
  size_t known_ = 0, judged_ = 0;
};

TEST_F(Resumed, HasTheFiguresOfAnUndisturbedRun) {
  const Json whole = evaluated(kClips + 1);
  std::filesystem::remove(file());
  EXPECT_THROW(evaluated(2), Error);
  std::ofstream(file(), std::ios::app) << R"([{"figures":[0.25,nul)";  // a torn line
  EXPECT_THROW(evaluated(1), Error);
  EXPECT_EQ(known_, 2U);
  EXPECT_TRUE(evaluated() == whole);
  EXPECT_EQ(known_, 3U);
  EXPECT_EQ(judged_, 1U);
  EXPECT_TRUE(evaluated() == whole);
  EXPECT_EQ(judged_, 0U);
}

TEST_F(Resumed, DropsClipsOfOtherSettings) {
  EXPECT_THROW(evaluated(2), Error);
  EXPECT_THROW(evaluated(1, {{"seed", 2}}), Error);
  EXPECT_EQ(known_, 0U);
  EXPECT_EQ(ClipLog(file(), {{"seed", 2}}).earlier().size(), 1U);
}

TEST_F(Resumed, BeginsAnewAfterTornSettings) {
  write_file(file(), R"({"seed": 1)");
  EXPECT_THROW(evaluated(1), Error);
  EXPECT_EQ(known_, 0U);
  EXPECT_EQ(ClipLog(file(), {{"seed", 1}}).earlier().size(), 1U);
}

TEST(ClipJson, KeepsEveryDigitAndWhatIsNotANumber) {
  const ClipResults results = {{{0.1, NAN, 1.0 / 3, -0.0}, {1e-300}, {0.1F, 3e-39F}},
                               {{2}, {}, {}}};
  const ClipResults read = clip_results(parse_json(to_text(clip_json(results))));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(std::isnan(read[0].figures[1]));
  EXPECT_EQ(read[0].figures[2], 1.0 / 3);
  EXPECT_TRUE(std::signbit(read[0].figures[3]));
  EXPECT_EQ(read[0].octave_powers, results[0].octave_powers);
  EXPECT_EQ(read[0].embedding, results[0].embedding);
  EXPECT_TRUE(read[1].embedding.empty());
}

}  // namespace
}  // namespace hum::eval
