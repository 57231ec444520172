// What the card of the released weights says in its tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hum::eval {

// The cell of `column` in the row whose first cell is `row`, in the first Markdown table that has
// both; case and backticks do not matter. nullopt when there is none.
std::optional<std::string> card_cell(std::string_view card, std::string_view row,
                                     std::string_view column);

// The same as a number; separators of thousands ("2,400", "2 400") are fine.
// Throws: kBadData when the cell is no number.
std::optional<double> card_number(std::string_view card, std::string_view row,
                                  std::string_view column);

}  // namespace hum::eval
