// Names of enum values, for files, flags and messages. Each enum lists them once, in an overload
// `EnumNames<E> enum_names(E)` next to it.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hum {

template <typename E>
using EnumNames = std::span<const std::pair<E, std::string_view>>;

template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { enum_names(e) } -> std::convertible_to<EnumNames<E>>;
};

template <NamedEnum E>
std::string_view to_name(E value) {
  for (const auto& [e, name] : enum_names(value)) {
    if (e == value) return name;
  }
  HUM_CHECK(false, "enum value {} has no name", static_cast<int>(value));
  return {};
}

namespace internal {
[[noreturn]] void refuse_name(std::string_view text, std::vector<std::string> names, ExitCode fault,
                              std::string_view where);
}  // namespace internal

// Throws `fault` if no value has this name. `where`: the flag or cell that holds it, for the
// message.
template <NamedEnum E>
E from_name(std::string_view text, ExitCode fault = ExitCode::kConfig,
            std::string_view where = "") {
  std::vector<std::string> names;
  for (const auto& [e, name] : enum_names(E{})) {
    if (name == text) return e;
    names.emplace_back(name);
  }
  internal::refuse_name(text, std::move(names), fault, where);
}

}  // namespace hum
