// Reads comma-separated tables with a header line, the usual form of published measurements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hum::plan {

// One file. Column names are compared in lower case; empty lines are skipped.
class Table {
 public:
  // Throws: kNoInput; kBadData if there is no row, or a row has a different number of cells.
  explicit Table(const std::filesystem::path& path);

  size_t rows() const { return cells_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  // The column with one of these names; nothing if there is none.
  std::optional<size_t> column(std::initializer_list<const char*> names) const;
  // The cell's text; "" if the column is absent.
  const std::string& text(size_t row, std::optional<size_t> column) const;
  // The cell as a number above zero; nothing if the column or value is absent. Throws kBadData,
  // naming file, line and column, on anything else.
  std::optional<double> number(size_t row, std::optional<size_t> column) const;
  // Same, as a whole number.
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
