// How the notes of presets die away, stored with their references beside the weights: a stored
// reference has short notes. docs/formats/decays.md has the format.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/synthesis/presets.h"
#include "models/humming/late_decay.h"

namespace hum::app {

struct PresetDecay {
  std::string preset;
  models::humming::LateDecay decay;
};

// Writes the decays to a folder that holds the presets' references. Leaves out those of steady
// notes. Throws: kCannotCreate.
void write_decays(const std::filesystem::path& references, std::span<const PresetDecay> decays);

// Null if the preset's notes keep their level, or if the weights have no such file. Throws:
// kBadData if it is damaged.
std::shared_ptr<const models::humming::LateDecay> stored_decay(const std::filesystem::path& weights,
                                                               const data::Preset& preset);

}  // namespace hum::app
