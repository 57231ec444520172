#include "eval/metrics/melody_track.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "eval/metrics/testing_impl.h"

namespace hum::eval {
namespace {

using ::testing::DoubleNear;
using testing::drawn;
using ::testing::ElementsAre;
using testing::whole;

constexpr double kHop_s = 256.0 / 44100;

// melody_track() of tools/golden/judging.py.
MelodyTrack drawn_track(const std::string& name, size_t count, double hop_s, double start_s) {
  const auto kind = whole(name + " kind", count / 10, 0, 5);
  const auto error_hz = drawn(name + " error", count, -8, 8);
  MelodyTrack track;
  for (size_t t = 0; t < count; ++t) {
    const double time_s = start_s + hop_s * static_cast<double>(t);
    const bool has_pitch = kind[t / 10] > 0;
    track.add(time_s, has_pitch ? 200 + 50 * time_s + error_hz[t] : 0, kind[t / 10] > 1);
  }
  return track;
}

MelodyTrack track_of(const std::vector<double>& hz, double hop_s = 0.01, double start_s = 0) {
  MelodyTrack track;
  for (const double x : hz) {
    track.add(start_s + hop_s * static_cast<double>(track.size()), std::abs(x), x > 0);
  }
  return track;
}

TEST(MelodyTrack, ScoresAreMirEvals) {
  const Json rows = testing::golden("judging.json", "melody");
  ASSERT_EQ(rows.size(), 13U);
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string name = std::to_string(i);
    constexpr double kHops_s[] = {0.01, 0.016}, kStarts_s[] = {0, 0.005, 0.1};
    const bool is_same = i == 12;
    const auto count =
        is_same ? 400 : static_cast<size_t>(10 * whole("follower " + name + " tens", 1, 5, 30)[0]);
    const auto reference = drawn_track("melody " + name, 400, kHop_s, i == 5 ? 0.005 : 0);
    const auto estimate = drawn_track("follower " + name, count, is_same ? kHop_s : kHops_s[i % 2],
                                      is_same ? 0 : kStarts_s[i % 3]);
    const MelodyScore score = score_melody(reference, estimate);
    EXPECT_NEAR(score.pitch.raw_pitch, rows[i][0], 1e-12);
    EXPECT_NEAR(score.voicing.recall(), rows[i][1], 1e-12);
    EXPECT_NEAR(score.voicing.false_alarm(), rows[i][2], 1e-12);
    EXPECT_GT(score.pitch.raw_pitch, 0);
    EXPECT_LT(score.pitch.raw_pitch, 0.9);
  }
}

TEST(MelodyTrack, ResamplingInterpolatesPitchesAndHoldsVoicing) {
  const auto track = track_of({100, 400, 0, -300, 200}, 1, 1);
  const std::vector<double> times_s = {0.5, 1.5, 2.5, 3.5, 4.5, 5, 6, 7};
  const auto result = resampled(track, times_s);
  EXPECT_EQ(result.time_s, times_s);
  EXPECT_THAT(result.hz, ElementsAre(100, DoubleNear(200, 1e-9), 400, 0,
                                     DoubleNear(std::sqrt(60000), 1e-9), 200, 200, 0));
  EXPECT_THAT(result.voiced, ElementsAre(true, true, true, false, false, true, true, false));
  EXPECT_THAT(resampled({}, times_s).voiced, ::testing::Each(false));
  EXPECT_EQ(resampled(track, {}).size(), 0U);
}

TEST(MelodyTrack, VoicingOfRecordingsAddsUp) {
  auto voicing = score_frames(track_of({100, 100, 0, 0}), track_of({100, 0, 100, -100})).voicing;
  EXPECT_EQ(voicing.recall(), 0.5);
  EXPECT_EQ(voicing.false_alarm(), 0.5);
  voicing += score_frames(track_of({100, 100, 0}), track_of({-100, 0, 0})).voicing;
  EXPECT_EQ(voicing.recall(), 0.25);
  EXPECT_DOUBLE_EQ(voicing.false_alarm(), 1.0 / 3);
  EXPECT_EQ(Voicing{}.recall(), 1);
  EXPECT_EQ(Voicing{}.false_alarm(), 0);
  EXPECT_THROW(score_frames(track_of({100}), {}), Error);
}

std::vector<double> times(size_t count) { return track_of(std::vector<double>(count)).time_s; }

TEST(AgreedTrack, IsWhatTwoOfThreeHear) {
  constexpr double kNear = 1.02, kFar = 1.04;  // 34 and 68 cents
  const std::vector<MelodyTrack> tracks = {track_of({100, 100, 100, 100, 100}),
                                           track_of({100 * kNear, 200, -100 * kNear, 200, 100}),
                                           track_of({100 * kFar * kNear, 100, 100 * kFar, 400, 0})};
  const auto agreed = agreed_track(tracks, times(5), {.margin_s = 0});
  EXPECT_THAT(agreed.time_s, ElementsAre(0, 0.01, 0.04));
  EXPECT_THAT(agreed.hz, ElementsAre(DoubleNear(100 * std::sqrt(kNear), 1e-9),
                                     DoubleNear(100, 1e-9), DoubleNear(100, 1e-9)));
  EXPECT_THAT(agreed.voiced, ::testing::Each(true));
}

TEST(AgreedTrack, LeavesOutFramesNearAChangeOfTheVoicing) {
  const std::vector<double> late = {0, 0, 0, 0, 0, 0, 100, 100, 100, 100, 100, 100};
  std::vector<double> early = late;
  early[5] = 100;
  const std::vector<MelodyTrack> tracks = {track_of(late), track_of(early), track_of(late)};
  const auto agreed = agreed_track(tracks, times(late.size()));
  EXPECT_THAT(agreed.time_s, ElementsAre(0, 0.01, 0.02, 0.09, 0.10, 0.11));
  EXPECT_THAT(agreed.voiced, ElementsAre(false, false, false, true, true, true));
  EXPECT_EQ(agreed_track(tracks, times(late.size()), {.margin_s = 0}).size(), late.size());
}

}  // namespace
}  // namespace hum::eval
