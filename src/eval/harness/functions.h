// The functions that the harness judges with; eval/ does not depend on models/. All sound is mono
// at 22,050 Hz.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/presets.h"

namespace hum::eval {

// Finds the notes of a sound.
using Transcriber = std::function<std::vector<audio::Note>(std::span<const float> samples)>;

// Plays notes on the real instrument, which systems are compared with.
using Renderer = std::function<std::vector<float>(std::span<const audio::Note> notes,
                                                  const data::Preset& preset, double seconds)>;

}  // namespace hum::eval
