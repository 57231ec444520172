// One oneDNN matmul primitive, created once per shape and kept for the life of the process.
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/matmul/matmul_cpu.h"

namespace hum::kernels {

// A block of a larger product: the block's own m, n, k, and the distance between rows of each whole
// matrix.
struct Block {
  Product product;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;
  bool operator==(const Block&) const = default;
};

// Thread-safe: the primitive keeps no scratch memory.
class MatmulPlan {
 public:
  explicit MatmulPlan(const Block& block);
  size_t scratch_bytes() const { return scratch_bytes_; }
  const char* implementation() const { return primitive_desc_.impl_info_str(); }
  // scratch: scratch_bytes() bytes, 64-byte aligned, not shared with another call.
  void execute(const void* a, const void* b, void* c, void* scratch) const;

 private:
  dnnl::matmul::primitive_desc primitive_desc_;
  dnnl::matmul primitive_;
  size_t scratch_bytes_ = 0;
};

// The plan for a block, created on first use. Thread-safe.
const MatmulPlan& plan_for(const Block& block);

// The instruction set that oneDNN uses, after HUM_OPS_ISA and ONEDNN_MAX_CPU_ISA.
Isa onednn_isa();

}  // namespace hum::kernels
