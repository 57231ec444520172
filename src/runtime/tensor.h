// An array on one device of a session; a cheap handle to a shared buffer.
#pragma once

#include <memory>

#include "graph/shape.h"
#include "pjrt/buffer.h"

namespace hum::runtime {

class Tensor {
 public:
  Tensor() = default;
  Tensor(graph::Shape shape, std::shared_ptr<pjrt::Buffer> buffer)
      : shape_(std::move(shape)), buffer_(std::move(buffer)) {}

  explicit operator bool() const { return buffer_ != nullptr; }
  const graph::Shape& shape() const { return shape_; }
  pjrt::Buffer& buffer() const { return *buffer_; }
  // True after it was donated to a run: its memory now belongs to a result of that run.
  bool is_deleted() const { return buffer_->is_deleted(); }

 private:
  graph::Shape shape_;
  std::shared_ptr<pjrt::Buffer> buffer_;
};

}  // namespace hum::runtime
