// Suggests names for a misspelled one, and counts things in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

namespace hum {

// The edit distance from `wanted` to `name` (a letter added, left out, replaced, or swapped with
// its neighbour counts 1), minus 100 if `name` contains `wanted`, so that "sax" suggests the
// saxophones.
int name_distance(std::string_view wanted, std::string_view name);

// Up to `count` of `names`, nearest first.
std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names,
                                       size_t count = 3);

// The nearest name, if `wanted` is probably a misspelling of it: at most a third of its letters
// differ (at least one), or it is a part of at least three letters.
std::optional<std::string> likely_name(std::string_view wanted, std::vector<std::string> names);

// "0 notes", "1 note", "2 notes".
std::string counted(int64_t count, std::string_view noun);

namespace internal {
[[noreturn]] void refuse_name(std::string_view text, std::vector<std::string> names, ExitCode fault,
                              std::string_view where);
}  // namespace internal

// The value with this name. Throws `fault` with the nearest name. `where`: the flag or the place in
// a file that holds the name.
template <NamedEnum E>
E parse_name(std::string_view text, ExitCode fault, std::string_view where) {
  std::vector<std::string> names;
  for (const auto& [e, name] : enum_names(E{})) {
    if (name == text) return e;
    names.emplace_back(name);
  }
  internal::refuse_name(text, std::move(names), fault, where);
}

}  // namespace hum
