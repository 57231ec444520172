// The players of a report: a clip's sounds in a row, to switch between at the same place.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace hum::eval {

// HTML of all examples (Examples::json), and the scripts that make them play. Needs the files of
// site/ beside the page; without scripts there are links to the sounds.
std::string players(const Json& examples);

}  // namespace hum::eval
