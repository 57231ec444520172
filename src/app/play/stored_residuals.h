// The residuals of the presets' references, stored with them beside the weights: to draft a
// reference takes 0.3 s of the 0.75 s to the first sound. docs/formats/residuals.md has the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/synthesis/presets.h"
#include "models/humming/residual.h"

namespace hum::app {

struct PresetResidual {
  std::string preset;
  std::shared_ptr<const models::humming::Residual> residual;
};

struct StoredResidual {
  models::humming::Residual residual;
  std::string drafter_sha256, reference_sha256;  // what it was made with
};

// Identifies the model of these weights that drafts (runtime::sums_sha256). Absent if there is
// none, or if it has no SHA256SUMS.
std::optional<std::string> drafter_sha256(const std::filesystem::path& weights);

std::filesystem::path residuals_file(const std::filesystem::path& weights);

// Writes the residuals to a folder that holds the presets' references. Throws: kCannotCreate.
void write_residuals(const std::filesystem::path& references, const std::string& drafter,
                     std::span<const PresetResidual> residuals);

// Absent if the file has none of this preset. Throws: kNoInput; kBadData if it is damaged, or of
// latents of another size.
std::optional<StoredResidual> read_residual(const std::filesystem::path& file,
                                            std::string_view preset, int64_t latent);

// The stored residual of a preset. Null if there is none, or if this model or this reference did
// not make it, or if the file is damaged; then warns once.
std::shared_ptr<const models::humming::Residual> stored_residual(
    const std::filesystem::path& weights, const data::Preset& preset, int64_t latent);

}  // namespace hum::app
