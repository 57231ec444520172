// Systems that make a clip again (a codec): unseen clips, and how much of melody and balance their
// copies keep.
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

// One clip a preset, its melody made from (seed, place in `presets`). Unseen means: a seed that no
// training item and no stored reference has.
std::vector<Clip> make_clips(std::span<const data::Preset* const> presets, uint64_t seed,
                             double seconds, const Renderer& render);

// The copy of clip number `i`; cut or padded to the clip's length before it is judged.
using CopyFunction = std::function<std::vector<float>(const Clip& clip, size_t i)>;

struct Copies {
  std::vector<MelodyScore> clips;
  MelodyScore mean;
  // Of all clips as one sound.
  std::vector<OctaveBand> bands;
  // Largest difference of the octave bands within 40 dB of the strongest: of all clips as one
  // sound, and the mean over clips.
  double octave_db = 0, clip_octave_db = 0;
};

// Called after each clip; may be empty.
using CopyProgress = std::function<void(size_t clips_done)>;

Copies judge_copies(std::span<const Clip> clips, const CopyFunction& copy,
                    const Transcriber& transcribe, const CopyProgress& progress = {});

}  // namespace hum::eval
