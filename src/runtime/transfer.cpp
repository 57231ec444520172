#include "runtime/transfer.h"

#include <algorithm>

#include "monitor/spans.h"

namespace hum::runtime {
namespace {

constexpr std::pair<graph::DType, PJRT_Buffer_Type> kTypes[] = {
    {graph::DType::kF32, PJRT_Buffer_Type_F32}, {graph::DType::kBF16, PJRT_Buffer_Type_BF16},
    {graph::DType::kI32, PJRT_Buffer_Type_S32}, {graph::DType::kU32, PJRT_Buffer_Type_U32},
    {graph::DType::kU8, PJRT_Buffer_Type_U8},   {graph::DType::kI1, PJRT_Buffer_Type_PRED}};

}  // namespace

pjrt::ArrayType array_type(const graph::Shape& shape) {
  const auto row =
      std::ranges::find(kTypes, shape.dtype, &std::pair<graph::DType, PJRT_Buffer_Type>::first);
  HUM_CHECK(row != std::end(kTypes));
  return {row->second, shape.dims};
}

graph::Shape shape_of(const pjrt::ArrayType& type) {
  const auto row =
      std::ranges::find(kTypes, type.type, &std::pair<graph::DType, PJRT_Buffer_Type>::second);
  HUM_CHECK(row != std::end(kTypes), "a program made {}", type.to_string());
  return {row->first, type.dims};
}

Tensor upload(const std::shared_ptr<const pjrt::Client>& client, int device,
              const HostTensor& tensor) {
  const monitor::Timed timed(monitor::SpanKind::kUpload, "",
                             static_cast<int64_t>(tensor.bytes().size()));
  return {tensor.shape(),
          std::make_shared<pjrt::Buffer>(pjrt::Buffer::from_host(
              client, client->device(device), array_type(tensor.shape()), tensor.bytes()))};
}

Tensor view(const std::shared_ptr<const pjrt::Client>& client, int device,
            const HostTensor& tensor) {
  return {tensor.shape(),
          std::make_shared<pjrt::Buffer>(pjrt::Buffer::view_of_host(
              client, client->device(device), array_type(tensor.shape()), tensor.bytes()))};
}

HostTensor download(const Tensor& tensor) {
  HostTensor result(tensor.shape());
  const monitor::Timed timed(monitor::SpanKind::kDownload, "",
                             static_cast<int64_t>(result.bytes().size()));
  tensor.buffer().to_host(result.bytes());
  return result;
}

}  // namespace hum::runtime
