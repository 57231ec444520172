// The weights that a training starts from and those that it writes. A model that consists of others
// (ModelRow::parts) reads and writes the parts of a folder of weights; every other one its own.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "models/registry.h"
#include "train/loop.h"

namespace hum::app {

// The model's configuration as runs and weights record it: without what configurations of earlier
// releases, in which it was always so, did not have.
Json recorded_model(const models::ModelRow& row, Json config);

// The weights in the folder `init` (empty: none), and the buffers that other models supply in any
// case. Throws: what runtime::read_weights throws.
std::vector<train::NamedTensor> initial_tensors(const std::filesystem::path& init,
                                                const models::ModelRow& row,
                                                const models::AnyModel& model,
                                                std::vector<train::NamedTensor> frozen);

// Checks before any work that write_model_weights can succeed. Throws: what
// runtime::require_weights_place throws.
void require_places(const models::ModelRow& row, const std::filesystem::path& output);

// Writes the weights to `output`, or their parts to folders in it. `config`: as recorded. Returns
// their SHA-256, of parts one after another. Throws: what runtime::write_weights throws.
std::string write_model_weights(const models::ModelRow& row, const std::filesystem::path& output,
                                const Json& config, std::span<const train::NamedTensor> parameters);

}  // namespace hum::app
