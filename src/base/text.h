// Small changes of text.
#pragma once

#include <string>
#include <string_view>

namespace hum {

// ASCII letters alone change, in any locale.
std::string lower_case(std::string_view text);
// Without the blanks around it.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

}  // namespace hum
