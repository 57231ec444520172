#include "runtime/host_tensor.h"

#include <algorithm>

#include "base/bf16.h"

namespace hum::runtime {
namespace {

using graph::DType;

template <typename T>
void store(HostTensor& tensor, std::span<const float> values) {
  std::ranges::transform(values, tensor.as<T>().begin(),
                         [](float value) { return static_cast<T>(value); });
}

template <typename T>
std::vector<float> load(const HostTensor& tensor) {
  const auto values = tensor.as<T>();
  return {values.begin(), values.end()};
}

}  // namespace

HostTensor::HostTensor(graph::Shape shape)
    : shape_(std::move(shape)), bytes_(static_cast<size_t>(shape_.bytes())) {}

HostTensor::HostTensor(graph::Shape shape, std::vector<std::byte> bytes)
    : shape_(std::move(shape)), bytes_(std::move(bytes)) {
  HUM_REQUIRE(static_cast<int64_t>(bytes_.size()) == shape_.bytes(),
              "HostTensor: {} needs {} bytes, got {}", shape_, shape_.bytes(), bytes_.size());
}

HostTensor HostTensor::from_floats(DType dtype, std::vector<int64_t> dims,
                                   std::span<const float> values) {
  HostTensor result(graph::Shape{dtype, std::move(dims)});
  require_count(result.shape_, values.size());
  switch (dtype) {
    case DType::kF32:
      store<float>(result, values);
      break;
    case DType::kBF16:
      std::ranges::transform(values, result.as<uint16_t>().begin(), to_bf16);
      break;
    case DType::kI32:
      store<int32_t>(result, values);
      break;
    case DType::kU32:
      store<uint32_t>(result, values);
      break;
    case DType::kU8:
      store<uint8_t>(result, values);
      break;
    case DType::kI1:
      store<bool>(result, values);
      break;
  }
  return result;
}

std::vector<float> HostTensor::to_floats() const {
  switch (dtype()) {
    case DType::kF32:
      return load<float>(*this);
    case DType::kBF16: {
      std::vector<float> values(static_cast<size_t>(elements()));
      std::ranges::transform(as<uint16_t>(), values.begin(), from_bf16);
      return values;
    }
    case DType::kI32:
      return load<int32_t>(*this);
    case DType::kU32:
      return load<uint32_t>(*this);
    case DType::kU8:
      return load<uint8_t>(*this);
    case DType::kI1:
      return load<bool>(*this);
  }
  HUM_CHECK(false, "unknown element type");
  return {};
}

HostTensor HostTensor::to_f32() const {
  if (dtype() == DType::kF32) return *this;
  if (dtype() != DType::kBF16) return from_floats(DType::kF32, shape_.dims, to_floats());
  HostTensor result({DType::kF32, shape_.dims});
  std::ranges::transform(as<uint16_t>(), result.as<float>().begin(), from_bf16);
  return result;
}

void HostTensor::require_dtype(DType wanted) const {
  HUM_REQUIRE(dtype() == wanted, "HostTensor: {} read as {}", shape_, wanted);
}

void HostTensor::require_count(const graph::Shape& shape, size_t count) {
  HUM_REQUIRE(static_cast<int64_t>(count) == shape.elements(), "HostTensor: {} values for {}",
              count, shape);
}

}  // namespace hum::runtime
