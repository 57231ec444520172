#include "data/synthesis/sine.h"

#include <gtest/gtest.h>

#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

using testing::amplitude_at;
using testing::between;
using testing::measured_pitch;
using testing::rms;

TEST(Sine, HasTheNotePitchAndNoHarmonics) {
  const audio::Note note{0.1, 1.1, 69, 0.8, {}};
  const auto samples = render_sine({&note, 1}, int64_t{2} * kSampleRate);
  EXPECT_NEAR(measured_pitch(between(samples, 0.3, 0.8)), 69, 0.02);
  EXPECT_LT(amplitude_at(between(samples, 0.5, 1.0), 880), 1e-3);
}

TEST(Sine, LeavesAGapOfFortyMillisecondsBetweenTouchingNotes) {
  const std::vector<audio::Note> notes = {
      {0, 0.5, 60, 0.8, {}}, {0.5, 1.0, 60, 0.8, {}}, {0.98, 1.5, 64, 0.8, {}}};
  const auto samples = render_sine(notes, int64_t{2} * kSampleRate);
  EXPECT_LT(rms(between(samples, 0.4635, 0.4995)), 1e-9);
  EXPECT_LT(rms(between(samples, 0.9435, 0.9795)), 1e-9);
  EXPECT_GT(rms(between(samples, 0.40, 0.45)), 0.1);
}

TEST(Sine, KeepsChordsAndSeparateNotesWhole) {
  const std::vector<audio::Note> chord = {{0, 0.5, 60, 0.8, {}}, {0.001, 0.5, 67, 0.8, {}}};
  EXPECT_GT(rms(between(render_sine(chord, kSampleRate), 0.47, 0.49)), 0.1);
  const std::vector<audio::Note> apart = {{0, 0.5, 60, 0.8, {}}, {0.56, 0.9, 60, 0.8, {}}};
  EXPECT_GT(rms(between(render_sine(apart, kSampleRate), 0.47, 0.49)), 0.1);
}

TEST(Sine, AccentsOnsetsAndFollowsAmplitude) {
  const audio::Note loud{0, 1, 60, 0.8, {}};
  const audio::Note soft{0, 1, 60, 0.2, {}};
  const auto samples = render_sine({&loud, 1}, kSampleRate);
  EXPECT_GT(rms(between(samples, 0.01, 0.04)), 1.5 * rms(between(samples, 0.4, 0.9)));
  const auto quiet = render_sine({&soft, 1}, kSampleRate);
  EXPECT_NEAR(rms(quiet) / rms(samples), 0.25, 1e-3);
}

TEST(Sine, FollowsBends) {
  std::vector<int> bends(50, -6);
  std::fill_n(bends.begin(), 20, 0);
  const audio::Note note{0, 1, 72, 0.8, bends};
  const auto samples = render_sine({&note, 1}, kSampleRate);
  EXPECT_NEAR(measured_pitch(between(samples, 0.05, 0.3)), 72, 0.05);
  EXPECT_NEAR(measured_pitch(between(samples, 0.6, 0.9)), 70, 0.05);
}

}  // namespace
}  // namespace hum::data
