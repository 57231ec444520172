// A complete folder of small weights: the program runs normally, only the sound is meaningless.
#pragma once

#include <filesystem>

namespace hum::e2e {

// Writes codec/, voice/, upsampler/ and coarse/, untrained, and copies the released ear/, because
// an untrained one hears only noise.
void write_tiny_weights(const std::filesystem::path& folder);
// Writes references/ of the violin and the piano, so that the weights know these two presets.
void write_tiny_references(const std::filesystem::path& folder);
// Writes ear/, untrained.
void write_tiny_ear(const std::filesystem::path& folder);
// Writes classifier/, which knows the violin and the piano.
void write_tiny_classifier(const std::filesystem::path& folder);

}  // namespace hum::e2e
