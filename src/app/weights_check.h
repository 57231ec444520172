// Whether the models of a folder of weights are whole and belong together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/session.h"

namespace hum::app {

struct CheckedWeights {
  std::string model;
  int64_t parameters = 0;
  std::string sha256;  // of the shards
};

// Opens every model that the folder has, or that a folder which it builds on has. Throws: kNoInput
// when it has none; kBadData naming what is damaged or does not fit.
std::vector<CheckedWeights> check_weights(runtime::Session& session,
                                          const std::filesystem::path& folder);

}  // namespace hum::app
