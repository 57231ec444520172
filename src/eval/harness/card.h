// Reads figures from the tables of the released weights' model card.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hum::eval {

// Finds the cell of `column` in the row whose first cell is `row`, in the first Markdown table with
// both; ignores case and backticks. nullopt when there is none.
std::optional<std::string> card_cell(std::string_view card, std::string_view row,
                                     std::string_view column);

// The same as a number; allows thousands separators ("2,400", "2 400").
// Throws: kBadData when the cell is not a number.
std::optional<double> card_number(std::string_view card, std::string_view row,
                                  std::string_view column);

}  // namespace hum::eval
