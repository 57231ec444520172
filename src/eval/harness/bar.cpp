#include "eval/harness/bar.h"

#include <algorithm>

#include "base/error.h"

namespace hum::eval {

void Checks::add(const std::string& what, Json value, bool holds) {
  HUM_REQUIRE(!values_.contains(what), "checks: '{}' is listed twice", what);
  values_[what] = std::move(value);
  if (!holds) missed_.push_back(what);
}

void Checks::at_least(const std::string& what, double value, double limit) {
  add(what, value, value >= limit);
}

void Checks::at_most(const std::string& what, double value, double limit) {
  add(what, value, value <= limit);
}

void Checks::holds(const std::string& what, bool value) { add(what, value, value); }

bool Checks::ok() const { return missed_.empty() && !values_.empty(); }

Json to_json(const Bar& bar) {
  Json ours = bar.checks.values();
  ours.update(bar.ours);
  Json result = {{"name", bar.name}, {"value", bar.value},    {"unit", bar.unit},
                 {"bar", bar.bar},   {"ok", bar.checks.ok()}, {"ours", std::move(ours)},
                 {"peer", bar.peer}};
  if (!bar.checks.missed().empty()) result["missed"] = bar.checks.missed();
  if (!bar.reason.empty()) {
    result["ok"] = nullptr;
    result["reason"] = bar.reason;
  }
  return result;
}

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void TextTable::row(std::vector<std::string> cells) {
  HUM_REQUIRE(cells.size() == rows_[0].size(), "table: {} cells for {} columns", cells.size(),
              rows_[0].size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<size_t> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{}{:{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace hum::eval
