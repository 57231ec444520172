// Transfers between host and device tensors.
#pragma once

#include <memory>

#include "pjrt/client.h"
#include "runtime/host_tensor.h"
#include "runtime/tensor.h"

namespace hum::runtime {

pjrt::ArrayType array_type(const graph::Shape& shape);
graph::Shape shape_of(const pjrt::ArrayType& type);

Tensor upload(const std::shared_ptr<const pjrt::Client>& client, int device,
              const HostTensor& tensor);
// Without a copy where the plugin can read host memory; `tensor` must outlive the result unchanged.
Tensor view(const std::shared_ptr<const pjrt::Client>& client, int device,
            const HostTensor& tensor);
// Waits for the contents. Throws if the computation that produces them failed.
HostTensor download(const Tensor& tensor);

}  // namespace hum::runtime
