// A struct field that must be initialized explicitly.
#pragma once

#include <concepts>

namespace hum {

// Has no default constructor, so an initializer that omits the field does not compile. Accepts only
// a T: other types are not converted.
template <typename T>
class Required {
 public:
  constexpr Required(std::same_as<T> auto value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

}  // namespace hum
