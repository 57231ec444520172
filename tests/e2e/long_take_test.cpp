// Takes longer than the models' context, with the released weights: they neither collapse nor
// click.
#include <algorithm>
#include <cmath>

#include "audio/io.h"
#include "audio/notes.h"
#include "audio/pitch.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

// The example recording again and again.
std::vector<float> recording_of(double seconds) {
  const auto example = audio::read_mono(example_recording());
  std::vector<float> samples(static_cast<size_t>(seconds * example.rate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = example.samples[i % example.samples.size()];
  }
  return samples;
}

// What one stretch of the take sounds like.
struct Stretch {
  double rms = 0;
  double in_tune = 0;       // share of the frames inside notes within 50 cents, any octave
  double largest_bend = 0;  // of the wave, against its RMS: a click sticks out
  double silent_share = 0;  // of the frames inside notes
};

double rms_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

Stretch listen(const audio::AudioBuffer& sound, const std::vector<audio::Note>& notes,
               double from_s, double to_s) {
  const auto first = static_cast<size_t>(from_s * sound.rate_hz);
  const auto count = static_cast<size_t>((to_s - from_s) * sound.rate_hz);
  const auto part = std::span(sound.samples).subspan(first, count);
  Stretch result{.rms = rms_of(part)};
  for (size_t i = 1; i + 1 < part.size(); ++i) {
    const double bend = std::fabs(part[i - 1] - 2 * part[i] + part[i + 1]);
    result.largest_bend = std::max(result.largest_bend, bend / result.rms);
  }
  const auto track = audio::yin(part, sound.rate_hz);
  const double loudest = *std::ranges::max_element(track.rms);
  int64_t frames = 0, near = 0, silent = 0;
  for (size_t t = 0; t < track.hz.size(); ++t) {
    const double at_s = from_s + static_cast<double>(t) * track.frame_s;
    for (const auto& note : notes) {
      if (at_s < note.start_s + 0.05 || at_s > note.end_s - 0.02) continue;
      ++frames;
      if (track.rms[t] < 0.003 * loudest) ++silent;
      const double off = audio::hz_to_midi(track.hz[t]) - audio::pitch_at(note, at_s);
      if (std::fabs(std::remainder(off, 12)) < 0.5) ++near;
      break;
    }
  }
  result.in_tune = static_cast<double>(near) / static_cast<double>(frames);
  result.silent_share = static_cast<double>(silent) / static_cast<double>(frames);
  return result;
}

class LongTake : public Program {
 protected:
  void expect_steady(double seconds, const std::vector<std::string>& flags) {
    const auto input = write_sound("hum.wav", recording_of(seconds), 44100);
    std::vector<std::string> arguments = {
        "generate", input,           "--preset",  "violin",
        "-o",       path("out.wav"), "--midi",    path("out.json"),
        "--rate",   "22050",         "--weights", (source_folder() / "weights").string()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto outcome = run_hum(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto sound = audio::read_audio(path("out.wav"));
    const auto notes = audio::read_notes(path("out.json"));
    ASSERT_GT(notes.back().end_s, seconds - 3);
    constexpr double kStretch_s = 9;  // about as long as the example: the same melody
    std::vector<Stretch> stretches;
    for (double at_s = 0; at_s + kStretch_s <= notes.back().end_s; at_s += kStretch_s) {
      stretches.push_back(listen(sound, notes, at_s, at_s + kStretch_s));
    }
    const Stretch first = stretches[0];
    EXPECT_GT(first.in_tune, 0.7);
    for (size_t i = 0; i < stretches.size(); ++i) {
      SCOPED_TRACE(fmt::format("from {} s", kStretch_s * static_cast<double>(i)));
      const Stretch& here = stretches[i];
      EXPECT_NEAR(20 * std::log10(here.rms / first.rms), 0, 3);
      EXPECT_GT(here.in_tune, first.in_tune - 0.12);
      EXPECT_LT(here.silent_share, first.silent_share + 0.05);
      EXPECT_LT(here.largest_bend, 2 * first.largest_bend);
    }
  }
};

TEST_F(LongTake, OfFortySecondsIsSteady) { expect_steady(40, {}); }

TEST_F(LongTake, SlowOfFiveMinutesIsSteady) { expect_steady(300, {}); }

}  // namespace
}  // namespace hum::e2e
