// An array in host memory: shape and row-major bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "graph/shape.h"

namespace hum::runtime {

// C++ type of an element: float, int32_t, uint32_t, uint8_t, bool (i1) and uint16_t (bf16's bits).
template <typename T>
constexpr graph::DType dtype_of() {
  using graph::DType;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kBF16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kU32;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, bool>) return DType::kI1;
}

class HostTensor {
 public:
  HostTensor() : HostTensor(graph::Shape{}) {}
  // All zeros.
  explicit HostTensor(graph::Shape shape);
  // Throws if the number of bytes does not match the shape.
  HostTensor(graph::Shape shape, std::vector<std::byte> bytes);

  // Throws if the number of values does not match the dims.
  template <typename T>
  static HostTensor of(std::vector<int64_t> dims, std::span<const T> values) {
    HostTensor result(graph::Shape{dtype_of<T>(), std::move(dims)});
    const auto out = result.as<T>();
    require_count(result.shape_, values.size());
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return result;
  }
  template <typename T>
  static HostTensor of(std::vector<int64_t> dims, std::initializer_list<T> values) {
    return of(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static HostTensor scalar(T value) {
    return of<T>({}, {value});
  }
  // Values converted to `dtype` (bf16: rounded to nearest even; integers: truncated; i1: != 0).
  static HostTensor from_floats(graph::DType dtype, std::vector<int64_t> dims,
                                std::span<const float> values);

  const graph::Shape& shape() const { return shape_; }
  graph::DType dtype() const { return shape_.dtype; }
  int64_t elements() const { return shape_.elements(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  // The elements as T. Throws if the element type differs.
  template <typename T>
  std::span<const T> as() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> as() {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  // Converts every element to float.
  std::vector<float> to_floats() const;
  HostTensor to_f32() const;

  bool operator==(const HostTensor&) const = default;

 private:
  void require_dtype(graph::DType wanted) const;
  static void require_count(const graph::Shape& shape, size_t count);
  graph::Shape shape_;
  std::vector<std::byte> bytes_;
};

}  // namespace hum::runtime
