// Names of enum values, for files, flags and messages. Each enum lists them once, in an overload
// `EnumNames<E> enum_names(E)` next to it.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

template <NamedEnum E>
E from_name(std::string_view text) {
  std::string names;
  for (const auto& [e, name] : enum_names(E{})) {
    if (name == text) return e;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  fail(ExitCode::kConfig, fmt::format("'{}' is not one of {}", text, names));
}

}  // namespace hum
