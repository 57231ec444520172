// Muon, for hidden matrices: the update is the momentum with its singular values pushed towards 1.
// Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks";
// torch.optim.Muon for the order of operations.
#pragma once

#include <utility>

#include "base/fields.h"
#include "graph/value.h"

namespace hum::train {

// The factor on the learning rate of a matrix [m, n], as torch.optim.Muon's adjust_lr_fn: original
// sqrt(max(1, m/n)), Jordan et al.; match_rms_adamw 0.2 sqrt(max(m, n)), which suits learning rates
// chosen for AdamW (Liu et al. 2025, "Muon is scalable for LLM training"); spectral_unclamped
// sqrt(m/n), Bernstein 2025, "Deriving Muon".
enum class MuonScale { kOriginal, kMatchRmsAdamW, kSpectralUnclamped };
inline EnumNames<MuonScale> enum_names(MuonScale) {
  static constexpr std::pair<MuonScale, std::string_view> kNames[] = {
      {MuonScale::kOriginal, "original"},
      {MuonScale::kMatchRmsAdamW, "match_rms_adamw"},
      {MuonScale::kSpectralUnclamped, "spectral_unclamped"}};
  return kNames;
}
double muon_factor(MuonScale scale, int64_t rows, int64_t columns);

struct MuonConfig {
  double momentum = 0.95;
  MuonScale scale = MuonScale::kMatchRmsAdamW;
  // Hidden matrices learn at this multiple of the learning rate, before `scale`.
  double rate = 1;
  // False: in f32, for processors without bf16 products.
  bool bf16_products = true;

  template <class V>
  void visit_fields(V& v) {
    v("momentum", momentum, "decay of the gradient mean (Nesterov)");
    v("scale", scale,
      "factor on a matrix's learning rate: original, match_rms_adamw or spectral_unclamped");
    v("rate", rate, "multiple of learning_rate that hidden matrices learn at");
    v("bf16_products", bf16_products, "orthogonalise in bf16, as PyTorch does; false: in f32");
  }
};

// A matrix with the singular vectors of `x` and singular values of about 0.7 to 1.2: five steps of
// a quintic Newton-Schulz iteration. The matrices of a stack are separate.
// Shapes: f32[m, n] or f32[stack, m, n], kept.
graph::Value orthogonalised(const graph::Value& x, bool bf16_products);

struct MuonTensor {
  graph::Value weights, momentum, gradient;
};
struct MuonResult {
  graph::Value weights, momentum;
};

// One update, with decoupled weight decay. Shapes: all f32[m, n] or f32[stack, m, n];
// learning_rate: f32 scalar.
MuonResult muon(const MuonConfig& config, const MuonTensor& tensor,
                const graph::Value& learning_rate, double weight_decay);

}  // namespace hum::train
