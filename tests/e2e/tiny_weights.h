// A complete folder of small weights: the program runs normally, only the sound is meaningless.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hum::e2e {

// Writes codec/, voice/, upsampler/ and coarse/, untrained, and copies the released ear/, because
// an untrained one hears only noise.
void write_tiny_weights(const std::filesystem::path& folder);
// Writes references/, so that the weights know these presets.
void write_tiny_references(const std::filesystem::path& folder,
                           const std::vector<std::string>& presets = {"violin",
                                                                      "acoustic-grand-piano"});
// Writes ear/, untrained.
void write_tiny_ear(const std::filesystem::path& folder);
// Writes classifier/, which knows the violin and the piano.
void write_tiny_classifier(const std::filesystem::path& folder);

}  // namespace hum::e2e
