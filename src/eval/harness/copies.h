// Judges systems that copy a clip (a codec): how much of the melody and the spectral balance of
// unseen clips their copies keep.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/harness/melody_score.h"
#include "eval/metrics/octave_bands.h"

namespace hum::eval {

struct Clip {
  const data::Preset* preset = nullptr;
  std::vector<audio::Note> notes;  // what the preset plays
  std::vector<float> samples;      // at training's level
};

// Makes one clip per preset, with a melody from (seed, index in `presets`). The clips are unseen if
// no training item and no stored reference uses the seed.
std::vector<Clip> make_clips(std::span<const data::Preset* const> presets, uint64_t seed,
                             double seconds, const Renderer& render);

// Copies clip number `i`; the judge cuts or pads the copy to the clip's length.
using CopyFunction = std::function<std::vector<float>(const Clip& clip, size_t i)>;

struct Copies {
  std::vector<MelodyScore> clips;
  MelodyScore mean;
  // The octave bands of all clips as one sound.
  std::vector<OctaveBand> bands;
  // Largest difference of the octave bands within 40 dB of the strongest: for all clips as one
  // sound, and as the mean over clips.
  double octave_db = 0, clip_octave_db = 0;
};

// Called after each clip; may be empty.
using CopyProgress = std::function<void(size_t clips_done)>;

Copies judge_copies(std::span<const Clip> clips, const CopyFunction& copy,
                    const Transcriber& transcribe, const CopyProgress& progress = {});

}  // namespace hum::eval
