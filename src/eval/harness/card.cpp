#include "eval/harness/card.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace hum::eval {
namespace {

std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '`' && c != '*')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const size_t first = result.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return result.substr(first, result.find_last_not_of(" \t\r") - first + 1);
}

// The cells of "| a | b |"; empty for a line that is not a table row.
std::vector<std::string> cells_of(const std::string& line) {
  const std::string trimmed = plain(line);
  std::vector<std::string> cells;
  if (trimmed.size() < 2 || trimmed.front() != '|') return cells;
  std::istringstream stream(trimmed.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(plain(cell));
  return cells;
}

}  // namespace

std::optional<std::string> card_cell(std::string_view card, std::string_view row,
                                     std::string_view column) {
  std::istringstream stream{std::string(card)};
  constexpr size_t kNone = std::string::npos;
  size_t place = kNone;  // of the column in the current table
  bool in_table = false;
  for (std::string line; std::getline(stream, line);) {
    const auto cells = cells_of(line);
    if (!cells.empty() && !in_table) {  // a header
      const auto found = std::ranges::find(cells, plain(column));
      place = found == cells.end() ? kNone : static_cast<size_t>(found - cells.begin());
    } else if (place < cells.size() && cells[0] == plain(row)) {
      return cells[place];
    }
    in_table = !cells.empty();
  }
  return std::nullopt;
}

std::optional<double> card_number(std::string_view card, std::string_view row,
                                  std::string_view column) {
  auto cell = card_cell(card, row, column);
  if (!cell) return std::nullopt;
  std::erase_if(*cell, [](char c) { return c == ',' || c == ' '; });
  double value = 0;
  const auto [end, error] = std::from_chars(cell->data(), cell->data() + cell->size(), value);
  if (error != std::errc{} || end != cell->data() + cell->size()) {
    fail(ExitCode::kBadData,
         fmt::format("the card's '{}' of {} is not a number: '{}'", column, row, *cell));
  }
  return value;
}

}  // namespace hum::eval
