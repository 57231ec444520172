// Shell scripts that launch a training: what they set. Non-goals: running them; loops, conditions
// and substitutions other than of variables that were set to a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/claim_keys.h"

namespace hum::plan {

// Flags (--key value, --key=value), #SBATCH lines and variables of runtimes, with "name:line". What
// depends on variables that the script does not set, and other variables that no flag uses, do not
// count.
std::vector<Setting> read_script(std::string_view text, const std::string& name);

}  // namespace hum::plan
