#include "graph/ops/custom_call.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/ffi_workers.h"
#include "kernels/plane_convolution.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

// `integers` returns a setting by name. Arrays have size().
template <typename Array, typename Integers>
PlaneConvolution convolution_of(const Array& x, const Array& kernel, const Array& y, bool is_bf16,
                                const Integers& integers, bool transposed) {
  const auto strides = integers("strides"), dilation = integers("dilation"),
             padding_low = integers("padding_low");
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
  return {.word = is_bf16 ? Word::kBF16Pair : Word::kF32,
          .batch = x.size(0),
          .inputs = x.size(3),
          .outputs = y.size(3),
          .rows = axis(0),
          .columns = axis(1)};
}

template <bool kTransposed>
void handler(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0), kernel = call.argument(1), y = call.result(0);
  const auto integers = [&](const char* name) { return call.attributes().integers(name); };
  CallWorkers workers(call);
  convolve(convolution_of(x, kernel, y, x.is_bf16(), integers, kTransposed), x.data(),
           kernel.data(), y.data(), workers);
}

template <bool kTransposed>
bool can_run(const graph::Node& call) {
  const graph::Shape& x = call.input(0).shape();
  const graph::Attributes settings = graph::custom_call_settings(call);
  const auto integers = [&](const char* name) { return settings.get<graph::Dims>(name); };
  return can_convolve(convolution_of(x, call.input(1).shape(), call.shapes()[0],
                                     x.dtype == graph::DType::kBF16, integers, kTransposed));
}

}  // namespace

const Kernel kConv2dKernel = {{"hum.conv2d", 1, &pjrt::ffi::handler<handler<false>>},
                              can_run<false>};
const Kernel kConvTranspose2dKernel = {
    {"hum.conv_transpose2d", 1, &pjrt::ffi::handler<handler<true>>}, can_run<true>};

}  // namespace hum::kernels
