#include "graph/ops/custom_call.h"
#include "kernels/conv1d/conv1d.h"
#include "kernels/ffi_workers.h"
#include "kernels/plane_convolution.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

// Time is the columns of a plane of one row.
void run(const pjrt::ffi::Call& call, bool transposed) {
  const auto x = call.argument(0), kernel = call.argument(1), y = call.result(0);
  const auto attributes = call.attributes();
  const PlaneConvolution convolution{.word = x.is_bf16() ? Word::kBF16Pair : Word::kF32,
                                     .batch = x.size(0),
                                     .inputs = x.size(2),
                                     .outputs = y.size(2),
                                     .rows = {},
                                     .columns = {.taps = kernel.size(0),
                                                 .in = x.size(1),
                                                 .out = y.size(1),
                                                 .stride = attributes.integer("stride"),
                                                 .dilation = attributes.integer("dilation"),
                                                 .padding_low = attributes.integer("padding_low"),
                                                 .transposed = transposed}};
  CallWorkers workers(call);
  convolve(convolution, x.data(), kernel.data(), y.data(), workers);
}

void conv1d_handler(const pjrt::ffi::Call& call) { run(call, false); }
void conv_transpose1d_handler(const pjrt::ffi::Call& call) { run(call, true); }

bool can_run(const graph::Node& call) { return can_convolve(call); }
bool can_run_transposed(const graph::Node& call) {
  return can_convolve(call, graph::custom_call_settings(call).get<int64_t>("stride"));
}

}  // namespace

const Kernel kConv1dKernel = {{"hum.conv1d", 1, &pjrt::ffi::handler<conv1d_handler>}, can_run};
const Kernel kConvTranspose1dKernel = {
    {"hum.conv_transpose1d", 1, &pjrt::ffi::handler<conv_transpose1d_handler>}, can_run_transposed};

}  // namespace hum::kernels
