#include "kernels/matmul/matmul_call.h"

#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/matmul/matmul_cpu.h"

namespace hum::kernels {
namespace {

using graph::DType;

DType to_dtype(const pjrt::ffi::Array& array) {
  return array.is_bf16() ? DType::kBF16 : DType::kF32;
}

void run_matmul(const pjrt::ffi::Call& call) {
  const auto a = call.argument(0), b = call.argument(1), c = call.result(0);
  Product product;
  product.transpose_a = call.attributes().flag("transpose_a");
  product.transpose_b = call.attributes().flag("transpose_b");
  product.m = c.size(0);
  product.n = c.size(1);
  product.k = a.size(product.transpose_a ? 0 : 1);
  product.in = to_dtype(a);
  product.out = to_dtype(c);
  CallWorkers workers(call);
  multiply(product, a.data(), b.data(), c.data(), workers);
}

}  // namespace

const pjrt::KernelRow kMatmulRow = {"hum.matmul", 1, &pjrt::ffi::handler<run_matmul>};

bool matmul_available(const graph::Node& node) {
  const graph::Attributes settings = graph::custom_call_settings(node);
  const graph::Shape& a = node.input(0).shape();
  const graph::Shape& c = node.shapes()[0];
  Product product;
  product.transpose_a = settings.get<bool>("transpose_a");
  product.transpose_b = settings.get<bool>("transpose_b");
  product.m = c.dims[0];
  product.n = c.dims[1];
  product.k = a.dims[product.transpose_a ? 0 : 1];
  product.in = a.dtype;
  product.out = c.dtype;
  return can_multiply(product) && is_faster(product);
}

}  // namespace hum::kernels
