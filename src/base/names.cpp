#include "base/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace hum {

namespace {

// Levenshtein distance that also counts two swapped letters as 1 (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] =
          std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

bool contains(std::string_view name, std::string_view wanted) {
  return name.find(wanted) != std::string_view::npos;
}

}  // namespace

int name_distance(std::string_view wanted, std::string_view name) {
  const int distance = edit_distance(wanted, name);
  return contains(name, wanted) ? distance - 100 : distance;
}

std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names,
                                       size_t count) {
  std::ranges::stable_sort(names, {},
                           [&](const std::string& name) { return name_distance(wanted, name); });
  names.resize(std::min(count, names.size()));
  return names;
}

std::optional<std::string> likely_name(std::string_view wanted, std::vector<std::string> names) {
  const auto nearest = nearest_names(wanted, std::move(names), 1);
  if (nearest.empty()) return std::nullopt;
  const int allowed = std::max(1, static_cast<int>(wanted.size()) / 3);
  const bool is_part = wanted.size() >= 3 && contains(nearest[0], wanted);
  if (is_part || edit_distance(wanted, nearest[0]) <= allowed) return nearest[0];
  return std::nullopt;
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void internal::refuse_name(std::string_view text, std::vector<std::string> names, ExitCode fault,
                           std::string_view where) {
  const std::string message =
      fmt::format("{}: '{}' is not one of {}", where, text, fmt::join(names, ", "));
  const auto likely = likely_name(text, std::move(names));
  fail(fault, message,
       likely ? fmt::format("did you mean '{}'?", *likely) : "use one of these names");
}

}  // namespace hum
