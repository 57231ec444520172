// Refuses values of a configuration that are out of range, with their full names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hum {

class Bounds {
 public:
  // prefix: precedes the names of the fields, for example "model.".
  explicit Bounds(std::string prefix) : prefix_(std::move(prefix)) {}

  // The bounds of a struct that is a field.
  Bounds of(std::string_view field) const;

  // Throw kConfig naming the field, its value and the range, both ends included. NaN is outside.
  void require(std::string_view field, int64_t value, int64_t least, int64_t most) const;
  void require(std::string_view field, double value, double least, double most) const;
  // Throws kConfig for values that do not fit others.
  void require(std::string_view field, int64_t value, bool fits, const std::string& hint) const;

 private:
  [[noreturn]] void refuse(std::string_view field, const std::string& value,
                           const std::string& hint) const;

  std::string prefix_;
};

}  // namespace hum
