// What the harness judges with, as functions: eval sees no model. All sound is mono at 22,050 Hz.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/presets.h"

namespace hum::eval {

// The notes that are heard in a sound.
using Transcriber = std::function<std::vector<audio::Note>(std::span<const float> samples)>;

// Notes on the real instrument: what a system is compared with.
using Renderer = std::function<std::vector<float>(std::span<const audio::Note> notes,
                                                  const data::Preset& preset, double seconds)>;

}  // namespace hum::eval
