// The network on the engine against onnxruntime's run of the same file, and a real singer against
// basic-pitch's own stored output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/folders.h"
#include "models/basic_pitch/test_data.h"
#include "models/basic_pitch/transcriber.h"
#include "models/basic_pitch/windows.h"
#include "runtime/testing.h"

namespace hum::models::basic_pitch {
namespace {

using ::testing::HasSubstr;

const Transcriber& transcriber() {
  static const Transcriber shared(runtime::test_session());
  return shared;
}

// The sound that tools/golden/basic_pitch_posteriors.py makes from the same formulas.
std::vector<float> made_sound() {
  struct MadeNote {
    double start_s;
    int pitch;
    int end_pitch;
  };
  constexpr MadeNote kNotes[] = {{0.2, 60, 60}, {0.2, 64, 64}, {0.2, 67, 67}, {1.0, 28, 28},
                                 {1.4, 72, 79}, {5.9, 57, 57}, {6.3, 96, 96}};
  constexpr double kNoteSeconds = 0.7;
  std::vector<double> sound(static_cast<size_t>(7.3 * kSampleRateHz));
  for (const auto& note : kNotes) {
    const double low_hz = 440.0 * std::exp2((note.pitch - 69) / 12.0);
    const double high_hz = 440.0 * std::exp2((note.end_pitch - 69) / 12.0);
    const auto first = static_cast<size_t>(note.start_s * kSampleRateHz);
    for (size_t i = 0; i < static_cast<size_t>(kNoteSeconds * kSampleRateHz); ++i) {
      const double t = static_cast<double>(i) / kSampleRateHz;
      const double cycles = low_hz * t + (high_hz - low_hz) * t * t / (2.0 * kNoteSeconds);
      double sum = 0;
      for (int k = 1; k <= 5; ++k) sum += std::sin(2.0 * std::numbers::pi * k * cycles) / k;
      sound[first + i] += 0.15 * sum * std::exp(-3.0 * t);
    }
  }
  return {sound.begin(), sound.end()};
}

std::vector<float> real_singer() {
  const auto recording = audio::read_mono(source_folder() / "examples/vocadito_10.wav");
  return audio::resample(recording.samples, recording.rate_hz, kSampleRateHz);
}

// Mean absolute difference over the first `frames` frames.
double mean_difference(const Matrix<float>& ours, const Matrix<float>& reference, int64_t frames) {
  double sum = 0;
  for (int64_t t = 0; t < frames; ++t) {
    for (int64_t f = 0; f < ours.columns; ++f) sum += std::abs(ours(t, f) - reference(t, f));
  }
  return sum / static_cast<double>(frames * ours.columns);
}

TEST(BasicPitchWindows, CoverTheRecordingOnce) {
  // A ramp: what a window holds is its own position.
  std::vector<float> ramp(100000);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i + 1);
  std::vector<float> window(static_cast<size_t>(kWindowSamples));
  ASSERT_EQ(window_count(100000), 3);
  cut_window(ramp, 0, window);
  EXPECT_EQ(window[3839], 0.0F);
  EXPECT_EQ(window[3840], 1.0F);
  cut_window(ramp, 1, window);
  EXPECT_EQ(window[0], 36164.0F - 3840.0F + 1.0F);
  cut_window(ramp, 2, window);
  EXPECT_EQ(window[100000 - (2 * 36164 - 3840) - 1], 100000.0F);
  EXPECT_EQ(window.back(), 0.0F);
  cut_window(ramp, 3, window);
  EXPECT_EQ(*std::ranges::max_element(window), 0.0F);
}

TEST(BasicPitchWindows, HaveTheFrameCountsOfBasicPitch) {
  // As its own test says for vocadito_10: 6 windows, 200,607 samples.
  EXPECT_EQ(window_count(200607), 6);
  EXPECT_EQ(frame_count(200607), 782);
  EXPECT_EQ(frame_count(0), 0);
  EXPECT_EQ(frame_count(256), 0);
}

TEST(BasicPitchWindows, JoinTheirMiddleFrames) {
  std::vector<float> output(static_cast<size_t>(kWindowFrames * 2));
  for (size_t i = 0; i < output.size(); ++i) output[i] = static_cast<float>(i);
  Matrix<float> joined(150, 2);
  join_window(output, 0, joined);
  join_window(output, 1, joined);
  EXPECT_EQ(joined(0, 0), 30.0F);
  EXPECT_EQ(joined(141, 1), 2.0F * (15 + 141) + 1);
  EXPECT_EQ(joined(142, 0), 30.0F);
  EXPECT_EQ(joined(149, 0), 2.0F * (15 + 7));
}

TEST(BasicPitch, AgreesWithOnnxruntimeOnMadeSound) {
  const Posteriors ours = transcriber().posteriors(made_sound());
  const Matrix<float> golden = test::read_npy(test::data_folder() / "chords_posteriors.npy");
  ASSERT_EQ(ours.frames(), 627);
  ASSERT_EQ(golden.rows, 90);
  float largest = 0;
  for (int64_t row = 0; row < golden.rows; ++row) {
    const int64_t t = 7 * row;
    for (int64_t f = 0; f < golden.columns; ++f) {
      const float value = f < kPitches       ? ours.note(t, f)
                          : f < 2 * kPitches ? ours.onset(t, f - kPitches)
                                             : ours.contour(t, f - 2 * kPitches);
      largest = std::max(largest, std::abs(value - golden(row, f)));
    }
  }
  // Power below the 1e-10 floor is rounding noise of either side, and the logarithm shows it.
  EXPECT_LT(largest, 1e-3F);
  RecordProperty("largest_difference", fmt::format("{:.2e}", largest));
}

TEST(BasicPitch, FindsTheNotesThatWerePlayed) {
  const auto notes = transcriber().notes(made_sound());
  const auto has = [&](int pitch, double start_s) {
    return std::ranges::any_of(notes, [&](const audio::Note& note) {
      return note.pitch == pitch && std::abs(note.start_s - start_s) < 0.05;
    });
  };
  EXPECT_TRUE(has(60, 0.2));
  EXPECT_TRUE(has(64, 0.2));
  EXPECT_TRUE(has(67, 0.2));
  EXPECT_TRUE(has(57, 5.9));
}

TEST(BasicPitch, AgreesWithTheStoredOutputOfARealSinger) {
  const Posteriors ours = transcriber().posteriors(real_singer());
  const Posteriors stored = test::stored_posteriors();
  ASSERT_EQ(ours.frames(), 782);
  const double note = mean_difference(ours.note, stored.note, 782);
  const double onset = mean_difference(ours.onset, stored.onset, 782);
  const double contour = mean_difference(ours.contour, stored.contour, 782);
  EXPECT_LT(note, 1e-4);
  EXPECT_LT(onset, 1e-4);
  EXPECT_LT(contour, 1e-4);
  RecordProperty("mean_differences", fmt::format("{:.2e} {:.2e} {:.2e}", note, onset, contour));
}

TEST(BasicPitch, FindsTheReferenceNotesOfARealSinger) {
  const auto notes = transcriber().notes(real_singer());
  const Json reference = test::stored_notes();
  ASSERT_EQ(reference.size(), 28u);
  ASSERT_EQ(notes.size(), reference.size());
  for (size_t i = 0; i < notes.size(); ++i) {
    SCOPED_TRACE(fmt::format("note {}", i));
    EXPECT_EQ(notes[i].pitch, reference[i][2].get<int>());
    EXPECT_NEAR(notes[i].start_s, reference[i][0].get<double>(), 1e-9);
    EXPECT_NEAR(notes[i].end_s, reference[i][1].get<double>(), 1e-9);
    EXPECT_NEAR(notes[i].amplitude, reference[i][3].get<double>(), 1e-4);
    EXPECT_EQ(notes[i].bends, reference[i][4].get<std::vector<int>>());
  }
}

TEST(BasicPitch, CompilesNothingForOtherLengths) {
  transcriber();
  const auto compiles = runtime::test_session().counters().compiles;
  for (int64_t samples : {0, 1, 2205, 43844, 200000, 400001}) {
    const std::vector<float> noise(static_cast<size_t>(samples), 0.25F);
    const Posteriors result = transcriber().posteriors(noise);
    EXPECT_EQ(result.frames(), frame_count(samples));
    EXPECT_TRUE(std::ranges::all_of(result.note.values, [](float x) { return x > 0 && x < 1; }));
  }
  EXPECT_EQ(runtime::test_session().counters().compiles, compiles);
}

TEST(BasicPitch, HearsNothingInSilence) {
  EXPECT_TRUE(transcriber().notes(std::vector<float>(100000, 0.0F)).empty());
  EXPECT_TRUE(transcriber().notes({}).empty());
}

TEST(BasicPitch, RefusesSamplesThatAreNotFinite) {
  std::vector<float> samples(5000, 0.1F);
  samples[1234] = std::numeric_limits<float>::quiet_NaN();
  try {
    transcriber().posteriors(samples);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.message(), HasSubstr("sample 1234"));
  }
}

}  // namespace
}  // namespace hum::models::basic_pitch
