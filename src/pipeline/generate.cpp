#include "pipeline/generate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"
#include "audio/resample.h"
#include "base/error.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

static_assert(kWindowFrames == data::kItemFrames, "models are trained on windows of this length");

constexpr WindowLayout kRenderWindows{
    .window_frames = kWindowFrames, .context_frames = 25, .fade_frames = 2};

constexpr double kDeadBelow = 1e-3;  // 60 dB
constexpr double kMinTail_s = 0.1;
constexpr double kFade_s = 0.1;

// Where the sound has died away: the end of the last 20 ms frame above the floor.
int64_t end_of_sound(std::span<const float> samples) {
  double loudest = 0;
  int64_t end = 0;
  auto level = [&](size_t at) {
    double sum = 0;
    const size_t stop = std::min(samples.size(), at + data::kFrameSamples);
    for (size_t i = at; i < stop; ++i) sum += static_cast<double>(samples[i]) * samples[i];
    return std::sqrt(sum / static_cast<double>(stop - at));
  };
  for (size_t at = 0; at < samples.size(); at += data::kFrameSamples) {
    loudest = std::max(loudest, level(at));
  }
  for (size_t at = 0; at < samples.size(); at += data::kFrameSamples) {
    if (level(at) > kDeadBelow * loudest) end = static_cast<int64_t>(at) + data::kFrameSamples;
  }
  return std::min(end, static_cast<int64_t>(samples.size()));
}

// Half a cosine down to zero over the last `count` samples.
void fade_out(std::span<float> samples, int64_t count) {
  count = std::min(count, static_cast<int64_t>(samples.size()));
  const auto first = static_cast<int64_t>(samples.size()) - count;
  for (int64_t i = 0; i < count; ++i) {
    const double turn = std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(count);
    samples[static_cast<size_t>(first + i)] *= static_cast<float>(0.5 + 0.5 * std::cos(turn));
  }
}

}  // namespace

double end_of(std::span<const audio::Note> notes) {
  double end_s = 0;
  for (const auto& note : notes) end_s = std::max(end_s, note.end_s);
  return end_s;
}

std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed) {
  HUM_REQUIRE(!notes.empty(), "play: no notes");
  const int64_t frames =
      static_cast<int64_t>(std::ceil((end_of(notes) + kMaxRelease_s) * data::kFramesPerSecond));
  const int64_t latent_windows = kLatentWindows.windows(frames);
  const int64_t render_windows = kRenderWindows.windows(frames);
  // Features go on past the end, to the edge of the last window: its frames are silence, not zeros.
  const int64_t padded = std::max(kLatentWindows.first_frame(latent_windows - 1),
                                  kRenderWindows.first_frame(render_windows - 1)) +
                         kWindowFrames;
  const auto melody = data::melody_features(notes, padded);
  std::vector<float> excitation(static_cast<size_t>(padded * data::kFrameSamples));
  std::vector<float> noise(excitation.size());
  data::render_excitation(notes, excitation);
  data::render_noise(seed, 0, noise);

  int64_t done = 0;
  auto advance = [&] {
    if (instrument.progress) instrument.progress(++done, latent_windows + render_windows);
  };
  auto melody_of = [&](int64_t first) {
    return cut_rows(melody, data::kMelodyFeatures, first, kWindowFrames);
  };
  const auto latents = stitch(frames, instrument.latent, kLatentWindows, [&](int64_t w) {
    auto part = instrument.latents(melody_of(kLatentWindows.first_frame(w)), w);
    advance();
    return part;
  });
  return stitch(frames, data::kFrameSamples, kRenderWindows, [&](int64_t w) {
    const int64_t first = kRenderWindows.first_frame(w);
    auto part = instrument.render(cut_rows(latents, instrument.latent, first, kWindowFrames),
                                  melody_of(first),
                                  cut_rows(excitation, data::kFrameSamples, first, kWindowFrames),
                                  cut_rows(noise, data::kFrameSamples, first, kWindowFrames));
    advance();
    return part;
  });
}

audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options) {
  for (const float sample : samples) {
    if (std::isfinite(sample)) continue;
    fail(ExitCode::kFailure, "the models made samples that are not finite numbers",
         "the weights may be damaged: fetch them again");
  }
  const auto shortest = static_cast<int64_t>(data::sample_of(melody_end_s + kMinTail_s));
  const auto longest = static_cast<int64_t>(data::sample_of(melody_end_s + kMaxRelease_s));
  int64_t end = std::clamp(end_of_sound(samples), shortest, longest);
  end = std::min(end, static_cast<int64_t>(samples.size()));
  samples.resize(static_cast<size_t>(end));
  fade_out(samples, data::sample_of(kFade_s));
  const auto resampled = audio::resample(samples, data::kSampleRate, options.rate_hz);
  audio::AudioBuffer buffer = audio::from_mono(resampled, options.rate_hz, options.channels);
  audio::normalise(buffer);
  return buffer;
}

}  // namespace hum::pipeline
