// Extracts settings from shell scripts that launch training. Non-goals: running them; loops,
// conditions, and substitutions other than of variables set to a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/claim_keys.h"

namespace hum::plan {

// Flags (--key value, --key=value), #SBATCH lines and variables of runtimes, with "name:line".
// Ignores values that depend on variables the script does not set, and other variables that no flag
// uses.
std::vector<Setting> read_script(std::string_view text, const std::string& name);

}  // namespace hum::plan
