#include "plan/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace hum::plan {

namespace {

constexpr const char* kForm =
    "comma-separated values below a header of column names (docs/formats/runs.md)";

constexpr std::string_view kBlanks = " \t\r\"";

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t start = 0; start <= line.size();) {
    const size_t comma = std::min(line.find(',', start), line.size());
    cells.emplace_back(trimmed(line.substr(start, comma - start), kBlanks));
    start = comma + 1;
  }
  return cells;
}

}  // namespace

Table::Table(const std::filesystem::path& path) : name_(path.filename().string()) {
  const std::string text = read_text(path);
  size_t line_number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++line_number;
    if (trimmed(line, kBlanks).empty()) continue;
    auto cells = split(line);
    if (columns_.empty()) {
      for (auto& cell : cells) cell = lower_case(cell);
      columns_ = std::move(cells);
    } else if (cells.size() != columns_.size()) {
      fail(ExitCode::kBadData,
           fmt::format("{}:{}: {} cells for {} columns", name_, line_number, cells.size(),
                       columns_.size()),
           kForm);
    } else {
      cells_.push_back(std::move(cells));
      lines_.push_back(line_number);
    }
  }
  if (cells_.empty()) fail(ExitCode::kBadData, name_ + ": no rows below the header", kForm);
}

std::optional<size_t> Table::column(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    const auto found = std::ranges::find(columns_, name);
    if (found != columns_.end()) return static_cast<size_t>(found - columns_.begin());
  }
  return {};
}

const std::string& Table::text(size_t row, std::optional<size_t> column) const {
  static const std::string kNone;
  return column ? cells_[row][*column] : kNone;
}

std::optional<double> Table::number(size_t row, std::optional<size_t> column) const {
  const std::string& cell = text(row, column);
  if (cell.empty()) return {};
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) ||
      value <= 0) {
    refuse(row, *column, "a number above zero");
  }
  return value;
}

std::optional<int64_t> Table::count(size_t row, std::optional<size_t> column) const {
  const auto value = number(row, column);
  if (!value) return {};
  if (*value != std::floor(*value) || *value > 1e12) refuse(row, *column, "a whole number");
  return static_cast<int64_t>(*value);
}

std::string Table::place(size_t row) const { return fmt::format("{}:{}", name_, lines_[row]); }

void Table::refuse(size_t row, size_t column, const char* wanted) const {
  fail(ExitCode::kBadData,
       fmt::format("{}: '{}' in column '{}' is not {}", place(row), cells_[row][column],
                   columns_[column], wanted),
       "write digits without a unit; leave the cell empty if the figure is unknown");
}

}  // namespace hum::plan
