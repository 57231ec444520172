// The networks that decide which stem sounds in a bin: from the features of each band to logits of
// the stems.
//
// B batch, T frames, S stems, L bins that the network sees, X features of a band.
// Source: Lu et al. 2023, "Music source separation with band-split RoPE transformer"; Liu et al.
// 2022, "A ConvNet for the 2020s".
#pragma once

#include <memory>

#include "models/separator/config.h"
#include "nn/blocks.h"
#include "nn/layers.h"

namespace hum::models::separator {

using graph::Value;
using graph::Values;

class Network {
 public:
  virtual ~Network() = default;
  // Computes in the element type of the features. Shapes: of each band BTX -> BTSL.
  virtual Value logits(const Values& bands_BTX, const nn::BlockOptions& options) const = 0;
};

// features: X of each band.
std::unique_ptr<Network> make_network(const nn::Scope& scope, const SeparatorConfig& config,
                                      const std::vector<int64_t>& features);

}  // namespace hum::models::separator
