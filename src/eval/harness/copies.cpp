#include "eval/harness/copies.h"

#include "base/error.h"
#include "data/synthesis/level.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/timing.h"

namespace hum::eval {
namespace {

double band_difference(std::span<const float> reference, std::span<const float> estimate) {
  return octave_band_difference_db(octave_bands(reference, estimate, data::kSampleRate));
}

}  // namespace

std::vector<Clip> make_clips(std::span<const data::Preset* const> presets, uint64_t seed,
                             double seconds, const Renderer& render) {
  std::vector<Clip> clips;
  for (const data::Preset* preset : presets) {
    Clip clip{.preset = preset,
              .notes = data::make_melody(seed, clips.size(), *preset, {.seconds = seconds}).notes};
    clip.samples = render(clip.notes, *preset, seconds);
    data::normalise_level(clip.samples);
    clips.push_back(std::move(clip));
  }
  return clips;
}

Copies judge_copies(std::span<const Clip> clips, const CopyFunction& copy,
                    const Transcriber& transcribe, const CopyProgress& progress) {
  HUM_REQUIRE(!clips.empty(), "judge_copies: no clips");
  Copies result;
  std::vector<float> all_clips, all_copies;
  for (size_t i = 0; i < clips.size(); ++i) {
    const Clip& clip = clips[i];
    auto samples = copy(clip, i);
    samples.resize(clip.samples.size());
    result.clips.push_back(judge_melody(samples, clip.notes, transcribe));
    result.clip_octave_db +=
        band_difference(clip.samples, samples) / static_cast<double>(clips.size());
    all_clips.insert(all_clips.end(), clip.samples.begin(), clip.samples.end());
    all_copies.insert(all_copies.end(), samples.begin(), samples.end());
    if (progress) progress(i + 1);
  }
  result.mean = mean_of(result.clips);
  result.bands = octave_bands(all_clips, all_copies, data::kSampleRate);
  result.octave_db = octave_band_difference_db(result.bands);
  return result;
}

}  // namespace hum::eval
