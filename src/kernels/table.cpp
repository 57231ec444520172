#include "kernels/table.h"

#include <algorithm>

#include "base/env.h"
#include "base/fields.h"
#include "graph/ops/custom_call.h"
#include "kernels/adamw/adamw.h"
#include "kernels/attention/attention.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/conv1d/conv1d.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/cpu_features.h"
#include "kernels/decoder_step/decoder_step.h"
#include "kernels/depthwise_conv/depthwise_conv.h"
#include "kernels/embedding/embedding.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cpu.h"
#include "kernels/mel_spectrum/mel_spectrum.h"
#include "kernels/nearest_rows/nearest_rows.h"
#include "kernels/polar/polar.h"
#include "kernels/rotary/rotary.h"
#include "kernels/stft/stft.h"
#include "kernels/swiglu/swiglu.h"

namespace hum::kernels {
namespace {

// One line per folder.
// clang-format off
constexpr const Kernel* kKernels[] = {
    &kAdamwKernel,
    &kAttentionKernel, &kAttentionGradKernel,
    &kMatmulKernel,
    &kBiasGeluKernel, &kBiasGeluGradKernel,
    &kConv1dKernel, &kConvTranspose1dKernel,
    &kConv2dKernel, &kConvTranspose2dKernel,
    &kDecoderStepKernel,
    &kDepthwiseConvKernel, &kDepthwiseConvGradKernel,
    &kEmbeddingGradKernel,
    &kLayerNormKernel, &kLayerNormGradKernel,
    &kMelSpectrumKernel, &kMelSpectrumGradKernel,
    &kNearestRowsKernel,
    &kPolarKernel, &kPolarGradKernel,
    &kRotateHeadsKernel,
    &kSwigluKernel, &kSwigluGradKernel,
    &kStftKernel, &kStftAdjointKernel,
};
// clang-format on

}  // namespace

std::vector<pjrt::KernelRow> table() {
  std::vector<pjrt::KernelRow> rows;
  for (const Kernel* kernel : kKernels) rows.push_back(kernel->call);
  return rows;
}

bool available(const graph::Node& node) {
  if (!env_flag("HUM_KERNELS", true) || !graph::is_custom_call(node)) return false;
  const std::string& target = graph::custom_call_target(node);
  const auto found = std::ranges::find_if(
      kKernels, [&](const Kernel* kernel) { return target == kernel->call.name; });
  return found != std::end(kKernels) && (*found)->available(node);
}

std::string instruction_set() {
  if (!env_flag("HUM_KERNELS", true)) return "no kernels";
  return fmt::format("{} onednn:{}", to_name(chosen_isa()), to_name(matmul_isa()));
}

}  // namespace hum::kernels
