// Whether the models of a folder of weights are whole and belong together.
#pragma once

#include <filesystem>
#include <string>

#include "base/json_fwd.h"

namespace hum::app {

// Opens every model that the folder has, or that a folder which it builds on has. [{"model",
// "parameters", "sha256"}], the hash of the shards. Throws: kNoInput when it has none; kBadData
// naming what is damaged or does not fit.
Json weights_report(const std::filesystem::path& folder);
std::string weights_text(const Json& report);

}  // namespace hum::app
