#include "graph/ops/custom_call.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/ffi_workers.h"
#include "kernels/plane_convolution.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

void run(const pjrt::ffi::Call& call, bool transposed) {
  const auto x = call.argument(0), kernel = call.argument(1), y = call.result(0);
  const auto attributes = call.attributes();
  const auto strides = attributes.integers("strides"), dilation = attributes.integers("dilation"),
             padding_low = attributes.integers("padding_low");
  const auto axis = [&](int dim) {
    const auto d = static_cast<size_t>(dim);
    return ConvolutionAxis{.taps = kernel.size(dim),
                           .in = x.size(dim + 1),
                           .out = y.size(dim + 1),
                           .stride = strides[d],
                           .dilation = dilation[d],
                           .padding_low = padding_low[d],
                           .transposed = transposed};
  };
  const PlaneConvolution convolution{.word = x.is_bf16() ? Word::kBF16Pair : Word::kF32,
                                     .batch = x.size(0),
                                     .inputs = x.size(3),
                                     .outputs = y.size(3),
                                     .rows = axis(0),
                                     .columns = axis(1)};
  CallWorkers workers(call);
  convolve(convolution, x.data(), kernel.data(), y.data(), workers);
}

void conv2d_handler(const pjrt::ffi::Call& call) { run(call, false); }
void conv_transpose2d_handler(const pjrt::ffi::Call& call) { run(call, true); }

bool can_run(const graph::Node& call) { return can_convolve(call); }
bool can_run_transposed(const graph::Node& call) {
  return can_convolve(call, graph::custom_call_settings(call).get<graph::Dims>("strides")[1]);
}

}  // namespace

const Kernel kConv2dKernel = {{"hum.conv2d", 1, &pjrt::ffi::handler<conv2d_handler>}, can_run};
const Kernel kConvTranspose2dKernel = {
    {"hum.conv_transpose2d", 1, &pjrt::ffi::handler<conv_transpose2d_handler>}, can_run_transposed};

}  // namespace hum::kernels
