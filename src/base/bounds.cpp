#include "base/bounds.h"

#include "base/error.h"

namespace hum {
namespace {

template <typename T>
std::string range_hint(T least, T most) {
  return least == most ? fmt::format("use {}", least) : fmt::format("use {} to {}", least, most);
}

}  // namespace

Bounds Bounds::of(std::string_view field) const {
  return Bounds(fmt::format("{}{}.", prefix_, field));
}

void Bounds::require(std::string_view field, int64_t value, int64_t least, int64_t most) const {
  if (value >= least && value <= most) return;
  refuse(field, fmt::format("{}", value), range_hint(least, most));
}

void Bounds::require(std::string_view field, double value, double least, double most) const {
  if (value >= least && value <= most) return;
  refuse(field, fmt::format("{}", value), range_hint(least, most));
}

void Bounds::require(std::string_view field, int64_t value, bool fits,
                     const std::string& hint) const {
  if (!fits) refuse(field, fmt::format("{}", value), hint);
}

void Bounds::refuse(std::string_view field, const std::string& value,
                    const std::string& hint) const {
  fail(ExitCode::kConfig, fmt::format("{}{} = {} is out of range", prefix_, field, value), hint);
}

}  // namespace hum
