// Suggests names for a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hum {

// Levenshtein distance from `wanted` to `name`, minus 100 if `name` contains `wanted`, so that
// "sax" suggests the saxophones.
int name_distance(std::string_view wanted, std::string_view name);

// Up to `count` of `names`, nearest first.
std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names,
                                       size_t count = 3);

}  // namespace hum
