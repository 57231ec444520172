// A field that whoever fills in a struct must state.
#pragma once

#include <concepts>

namespace hum {

// Has no default, so an initializer that leaves the field out does not compile, and takes a T
// alone, so nothing else lands in it by conversion.
template <typename T>
class Required {
 public:
  constexpr Required(std::same_as<T> auto value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

}  // namespace hum
