#include "base/names.h"

#include <algorithm>
#include <numeric>

namespace hum {

namespace {

// Levenshtein distance.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

int name_distance(std::string_view wanted, std::string_view name) {
  const int distance = edit_distance(wanted, name);
  return name.find(wanted) != std::string_view::npos ? distance - 100 : distance;
}

std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names,
                                       size_t count) {
  std::ranges::stable_sort(names, {},
                           [&](const std::string& name) { return name_distance(wanted, name); });
  names.resize(std::min(count, names.size()));
  return names;
}

}  // namespace hum
