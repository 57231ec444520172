// Comma-separated tables with a header line, as measurements are published.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hum::plan {

// One file. Column names are compared in lower case; lines that are empty are left out.
class Table {
 public:
  // Throws: kNoInput; kBadData when there is no row, or a row has another number of cells.
  explicit Table(const std::filesystem::path& path);

  size_t rows() const { return cells_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  // Of one of these names; nothing when there is no such column.
  std::optional<size_t> column(std::initializer_list<const char*> names) const;
  // The cell's text; "" when the column is absent.
  const std::string& text(size_t row, std::optional<size_t> column) const;
  // The cell as a number above zero; nothing when column or figure is absent. Throws kBadData,
  // naming file, line and column, for anything else.
  std::optional<double> number(size_t row, std::optional<size_t> column) const;
  // The same, a whole number.
  std::optional<int64_t> count(size_t row, std::optional<size_t> column) const;
  // "runs.csv:7"
  std::string place(size_t row) const;

 private:
  [[noreturn]] void refuse(size_t row, size_t column, const char* wanted) const;
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<size_t> lines_;
};

}  // namespace hum::plan
