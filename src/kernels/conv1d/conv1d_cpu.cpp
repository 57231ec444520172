#include "graph/ops/custom_call.h"
#include "kernels/conv1d/conv1d.h"
#include "kernels/ffi_workers.h"
#include "kernels/plane_convolution.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

// Time is the columns of a plane of one row. `integer` returns a setting by name. Arrays have
// size().
template <typename Array, typename Integer>
PlaneConvolution convolution_of(const Array& x, const Array& kernel, const Array& y, bool is_bf16,
                                const Integer& integer, bool transposed) {
  return {.word = is_bf16 ? Word::kBF16Pair : Word::kF32,
          .batch = x.size(0),
          .inputs = x.size(2),
          .outputs = y.size(2),
          .rows = {},
          .columns = {.taps = kernel.size(0),
                      .in = x.size(1),
                      .out = y.size(1),
                      .stride = integer("stride"),
                      .dilation = integer("dilation"),
                      .padding_low = integer("padding_low"),
                      .transposed = transposed}};
}

template <bool kTransposed>
void handler(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0), kernel = call.argument(1), y = call.result(0);
  const auto integer = [&](const char* name) { return call.attributes().integer(name); };
  CallWorkers workers(call);
  convolve(convolution_of(x, kernel, y, x.is_bf16(), integer, kTransposed), x.data(), kernel.data(),
           y.data(), workers);
}

template <bool kTransposed>
bool can_run(const graph::Node& call) {
  const graph::Shape& x = call.input(0).shape();
  const graph::Attributes settings = graph::custom_call_settings(call);
  const auto integer = [&](const char* name) { return settings.get<int64_t>(name); };
  return can_convolve(convolution_of(x, call.input(1).shape(), call.shapes()[0],
                                     x.dtype == graph::DType::kBF16, integer, kTransposed));
}

}  // namespace

const Kernel kConv1dKernel = {{"hum.conv1d", 1, &pjrt::ffi::handler<handler<false>>},
                              can_run<false>};
const Kernel kConvTranspose1dKernel = {
    {"hum.conv_transpose1d", 1, &pjrt::ffi::handler<handler<true>>}, can_run<true>};

}  // namespace hum::kernels
