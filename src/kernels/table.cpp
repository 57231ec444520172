#include "kernels/table.h"

#include <algorithm>

#include "base/env.h"
#include "base/fields.h"
#include "graph/ops/custom_call.h"
#include "kernels/adamw/adamw_call.h"
#include "kernels/attention/attention_call.h"
#include "kernels/bias_gelu/bias_gelu_call.h"
#include "kernels/conv1d/conv1d_call.h"
#include "kernels/cpu_features.h"
#include "kernels/depthwise_conv/depthwise_conv_call.h"
#include "kernels/embedding/embedding_call.h"
#include "kernels/layer_norm/layer_norm_call.h"
#include "kernels/matmul/matmul_call.h"
#include "kernels/matmul/matmul_cpu.h"
#include "kernels/mel_spectrum/mel_spectrum_call.h"
#include "kernels/nearest_rows/nearest_rows_call.h"
#include "kernels/polar/polar_call.h"
#include "kernels/rotary/rotary_call.h"
#include "kernels/stft/stft_call.h"
#include "kernels/swiglu/swiglu_call.h"

namespace hum::kernels {
namespace {

struct Kernel {
  const pjrt::KernelRow* row;
  bool (*available)(const graph::Node& node);
};

constexpr Kernel kKernels[] = {
    {&kAdamwRow, adamw_available},
    {&kAttentionRow, attention_available},
    {&kAttentionGradRow, attention_available},
    {&kMatmulRow, matmul_available},
    {&kBiasGeluRow, bias_gelu_available},
    {&kBiasGeluGradRow, bias_gelu_available},
    {&kConv1dRow, conv1d_available},
    {&kConvTranspose1dRow, conv1d_available},
    {&kDepthwiseConvRow, depthwise_conv_available},
    {&kDepthwiseConvGradRow, depthwise_conv_available},
    {&kEmbeddingGradRow, embedding_grad_available},
    {&kLayerNormRow, layer_norm_available},
    {&kLayerNormGradRow, layer_norm_available},
    {&kMelSpectrumRow, mel_spectrum_available},
    {&kMelSpectrumGradRow, mel_spectrum_available},
    {&kNearestRowsRow, nearest_rows_available},
    {&kPolarRow, polar_available},
    {&kPolarGradRow, polar_available},
    {&kRotateHeadsRow, rotate_heads_available},
    {&kSwigluRow, swiglu_available},
    {&kSwigluGradRow, swiglu_available},
    {&kStftRow, stft_available},
    {&kStftAdjointRow, stft_available},
};

}  // namespace

std::vector<pjrt::KernelRow> table() {
  std::vector<pjrt::KernelRow> rows;
  for (const Kernel& kernel : kKernels) rows.push_back(*kernel.row);
  return rows;
}

bool available(const graph::Node& node) {
  if (!env_flag("HUM_KERNELS", true) || !graph::is_custom_call(node)) return false;
  const std::string& target = graph::custom_call_target(node);
  const auto found = std::ranges::find_if(
      kKernels, [&](const Kernel& kernel) { return target == kernel.row->name; });
  return found != std::end(kKernels) && found->available(node);
}

std::string instruction_set() {
  if (!env_flag("HUM_KERNELS", true)) return "no kernels";
  return fmt::format("{} onednn:{}", to_name(chosen_isa()), to_name(matmul_isa()));
}

}  // namespace hum::kernels
