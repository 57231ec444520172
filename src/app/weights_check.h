// Checks that the models in a folder of weights are intact and fit together.
#pragma once

#include <filesystem>
#include <string>

#include "base/json_fwd.h"

namespace hum::app {

// Opens every model in the folder and in the folders that it builds on. [{"model", "parameters",
// "sha256"}], the hash of the shards. Throws: kNoInput when there is no model; kBadData naming the
// model that is damaged or does not fit.
Json weights_report(const std::filesystem::path& folder);
std::string weights_text(const Json& report);

}  // namespace hum::app
