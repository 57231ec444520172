#include "pipeline/generate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"
#include "audio/mix.h"
#include "audio/resample.h"
#include "base/error.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

static_assert(kWindowFrames == data::kItemFrames, "models are trained on windows of this length");

// Of rendering, on each side of what is kept of a window.
constexpr int64_t kRenderContext = 25, kRenderFade = 2;

// Latents this near to the end of a part of a window may still change with what follows.
constexpr int64_t kQuickContext = 25;

// One run of the renderer, as soon as latents window `after` is there (-1: its quick part): it
// begins at first_frame; its sound takes over at `keep_from` and is final before `keep_to`.
struct RenderStep {
  int64_t after, first_frame, keep_from, keep_to;
};

std::vector<RenderStep> plan_rendering(int64_t frames, int64_t quick_frames) {
  std::vector<RenderStep> steps;
  const int64_t windows = kLatentWindows.windows(frames);
  constexpr int64_t kEdge = kRenderContext + kRenderFade;
  int64_t done = 0;
  for (int64_t w = quick_frames > 0 ? -1 : 0; w < windows; ++w) {
    int64_t final_to =
        w < 0 ? quick_frames - kQuickContext - kEdge : kLatentWindows.fade_start(w + 1) - kEdge;
    if (w + 1 == windows) final_to = frames;
    while (done < final_to) {
      const int64_t first = std::max<int64_t>(0, done - kRenderContext);
      const int64_t reach = first + kWindowFrames;
      const int64_t to = reach >= frames ? final_to : std::min(final_to, reach - kEdge);
      steps.push_back({w, first, done, to});
      done = to;
    }
  }
  return steps;
}

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

namespace {

// What is known of the whole piece before any model runs.
struct Piece {
  int64_t frames, padded;
  std::vector<float> melody, excitation, noise;

  Piece(std::span<const audio::Note> notes, uint64_t seed, int64_t last_first_frame,
        int64_t piece_frames)
      : frames(piece_frames),
        padded(last_first_frame + kWindowFrames),
        melody(data::melody_features(notes, padded)),
        excitation(static_cast<size_t>(padded * data::kFrameSamples)),
        noise(excitation.size()) {
    data::render_excitation(notes, excitation);
    data::render_noise(seed, 0, noise);
  }
  std::vector<float> melody_of(int64_t first) const {
    return cut_rows(melody, data::kMelodyFeatures, first, kWindowFrames);
  }
};

}  // namespace

void play(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
          const SampleSink& sink) {
  HUM_REQUIRE(!notes.empty(), "play: no notes");
  const auto frames =
      static_cast<int64_t>(std::ceil((end_of(notes) + kMaxRelease_s) * data::kFramesPerSecond));
  const int64_t windows = kLatentWindows.windows(frames);
  const int64_t quick = frames > instrument.quick_frames ? instrument.quick_frames : 0;
  const auto steps = plan_rendering(frames, quick);
  // Features go on past the end, to the edge of the last window: its frames are silence, not zeros.
  const Piece piece(notes, seed,
                    std::max(kLatentWindows.first_frame(windows - 1), steps.back().first_frame),
                    frames);
  int64_t done = 0;
  const int64_t total = windows + (quick > 0 ? 1 : 0) + static_cast<int64_t>(steps.size());
  auto advance = [&] {
    if (instrument.progress) instrument.progress(++done, total);
  };
  Stitcher latents(frames, instrument.latent, kLatentWindows.fade_frames);
  Stitcher sound(frames, data::kFrameSamples, kRenderFade);
  auto step = steps.begin();
  for (int64_t w = quick > 0 ? -1 : 0; w < windows; ++w) {
    const int64_t window = std::max<int64_t>(0, w), first = kLatentWindows.first_frame(window);
    latents.add(first,
                instrument.latents(piece.melody_of(first), window, w < 0 ? quick : kWindowFrames),
                kLatentWindows.fade_start(window));
    advance();
    for (; step != steps.end() && step->after == w; ++step) {
      auto cut = [&](const std::vector<float>& table, int64_t width) {
        return cut_rows(table, width, step->first_frame, kWindowFrames);
      };
      sound.add(step->first_frame,
                instrument.render(cut(latents.table(), instrument.latent),
                                  piece.melody_of(step->first_frame),
                                  cut(piece.excitation, data::kFrameSamples),
                                  cut(piece.noise, data::kFrameSamples)),
                step->keep_from);
      advance();
      sink(std::span(sound.table())
               .subspan(
                   static_cast<size_t>(step->keep_from * data::kFrameSamples),
                   static_cast<size_t>((step->keep_to - step->keep_from) * data::kFrameSamples)));
    }
  }
}

std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed) {
  std::vector<float> samples;
  play(notes, instrument, seed, [&](std::span<const float> part) {
    samples.insert(samples.end(), part.begin(), part.end());
  });
  return samples;
}

int64_t end_of_release(std::span<const float> samples, double melody_end_s) {
  const int64_t shortest = data::sample_of(melody_end_s + kMinTail_s);
  const int64_t longest = data::sample_of(melody_end_s + kMaxRelease_s);
  return std::min(std::clamp(end_of_sound(samples), shortest, longest),
                  static_cast<int64_t>(samples.size()));
}

void fade_end(std::span<float> samples) { fade_out(samples, data::sample_of(kFade_s)); }

audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options) {
  for (const float sample : samples) {
    if (std::isfinite(sample)) continue;
    fail(ExitCode::kFailure, "the models made samples that are not finite numbers",
         "the weights may be damaged: fetch them again");
  }
  samples.resize(static_cast<size_t>(end_of_release(samples, melody_end_s)));
  fade_end(samples);
  auto resampled = audio::resample(samples, data::kSampleRate, options.rate_hz);
  if (options.loop) resampled = wrap(resampled, options.rate_hz, *options.loop);
  audio::AudioBuffer buffer = audio::from_mono(resampled, options.rate_hz, options.channels);
  audio::normalise(buffer);
  return buffer;
}

audio::AudioBuffer with_backing(audio::AudioBuffer melody, const audio::AudioBuffer& backing,
                                double gain_db) {
  auto song =
      backing.rate_hz == melody.rate_hz ? backing : audio::resample(backing, melody.rate_hz);
  if (song.channels > 2) song = audio::to_mono(song);
  // One channel on two loudspeakers is 3 dB louder: levels are those of what will be heard.
  const int channels = std::max(song.channels, melody.channels);
  for (auto* sound : {&song, &melody}) {
    if (sound->channels < channels) {
      *sound = audio::from_mono(sound->samples, sound->rate_hz, channels);
    }
  }
  const double own_lufs = audio::integrated_lufs(melody.samples, melody.rate_hz, channels);
  const double song_lufs = audio::integrated_lufs(song.samples, song.rate_hz, channels);
  if (!std::isfinite(song_lufs)) {
    fail(ExitCode::kBadData, "the backing is silent", "name another --backing");
  }
  if (std::isfinite(own_lufs)) audio::apply_gain(melody, song_lufs + gain_db - own_lufs);
  auto both = audio::mix(song, melody);
  audio::normalise(both);
  return both;
}

}  // namespace hum::pipeline
