#include "models/separator/network.h"

#include <numeric>

#include "kernels/bias_gelu/bias_gelu.h"
#include "models/separator/attention_block.h"
#include "nn/waveform.h"

namespace hum::models::separator {

namespace {

// Deviation of the weights before the logits: training starts with almost equal shares.
constexpr double kHeadInit = 0.02;

// K bands, D width. Each band has its own way in and out; the blocks between have the same weights
// for all bands.
class BandSplit : public Network {
 public:
  BandSplit(const nn::Scope& scope, const SeparatorConfig& config,
            const std::vector<int64_t>& features)
      : edges_(band_edges(config)) {
    const int64_t width = config.width;
    for (size_t k = 0; k < features.size(); ++k) {
      const auto index = static_cast<int64_t>(k);
      in_.emplace_back(scope.child("bands", index), features[k], width);
      const nn::Scope out = scope.child("masks", index);
      out_.push_back({nn::Norm(out.child("norm"), nn::NormKind::kRms, width),
                      nn::Linear(out.child("up"), width, config.mask_width, {.hidden = true}),
                      nn::Linear(out.child("head"), config.mask_width,
                                 kStemCount * (edges_[k + 1] - edges_[k]), {.init = kHeadInit})});
    }
    // Two blocks, each with two residuals.
    const double scale = 1 / (4 * static_cast<double>(config.blocks));
    for (int64_t i = 0; i < config.blocks; ++i) {
      const nn::Scope block = scope.child("blocks", i);
      blocks_.push_back(
          {AttentionBlock(
               block.child("time"),
               {.width = width, .heads = config.heads, .rotary = true, .residual_scale = scale}),
           AttentionBlock(block.child("bands"),
                          {.width = width, .heads = config.heads, .residual_scale = scale})});
    }
  }

  Value logits(const Values& bands_BTX, const nn::BlockOptions& options) const override {
    Values bands_BTD;
    for (size_t k = 0; k < in_.size(); ++k) bands_BTD.push_back(in_[k](bands_BTX[k]));
    const Value x_BKTD = nn::run_blocks(options, blocks_, graph::stack(bands_BTD, 1));
    Values logits_BTSl;
    for (size_t k = 0; k < out_.size(); ++k) {
      const auto index = static_cast<int64_t>(k);
      const Value y_BTD = graph::squeeze(graph::slice_in_dim(x_BKTD, 1, index, index + 1), {1});
      logits_BTSl.push_back(out_[k](y_BTD));
    }
    return graph::concatenate(logits_BTSl, 3);
  }

 private:
  struct Block {
    AttentionBlock time, bands;

    Value operator()(const Value& x_BKTD) const {
      const int64_t b = x_BKTD.size(0), k = x_BKTD.size(1), t = x_BKTD.size(2), d = x_BKTD.size(3);
      const Value over_time = time(graph::reshape(x_BKTD, {b * k, t, d}));
      const Value x_BTKD = graph::swap_dims(graph::reshape(over_time, {b, k, t, d}), 1, 2);
      const Value over_bands = bands(graph::reshape(x_BTKD, {b * t, k, d}));
      return graph::swap_dims(graph::reshape(over_bands, {b, t, k, d}), 1, 2);
    }
  };
  struct Out {
    nn::Norm norm;
    nn::Linear up, head;

    // Shapes: BTD -> [B, T, S, bins of the band].
    Value operator()(const Value& x_BTD) const {
      const Value hidden = kernels::bias_gelu(up.without_bias(norm(x_BTD)), up.bias());
      const Value logits = head(hidden);
      return graph::reshape(
          logits, {logits.size(0), logits.size(1), kStemCount, logits.size(2) / kStemCount});
    }
  };

  std::vector<int64_t> edges_;
  std::vector<nn::Linear> in_;
  std::vector<Block> blocks_;
  std::vector<Out> out_;
};

// All bands as the features of one sequence.
class ConvNext : public Network {
 public:
  ConvNext(const nn::Scope& scope, const SeparatorConfig& config,
           const std::vector<int64_t>& features)
      : in_(scope.child("in"), std::reduce(features.begin(), features.end()), config.width),
        blocks_(nn::convnext_stack(
            scope, config.blocks,
            {.width = config.width, .hidden = 3 * config.width, .kernel = config.kernel})),
        norm_(scope.child("norm"), nn::NormKind::kLayer, config.width),
        head_(scope.child("head"), config.width, kStemCount * config.bins(), {.init = kHeadInit}) {}

  Value logits(const Values& bands_BTX, const nn::BlockOptions& options) const override {
    const Value x_BTD = nn::run_blocks(options, blocks_, in_(graph::concatenate(bands_BTX, 2)));
    const Value logits = head_(norm_(x_BTD));
    return graph::reshape(
        logits, {logits.size(0), logits.size(1), kStemCount, logits.size(2) / kStemCount});
  }

 private:
  nn::Linear in_;
  std::vector<nn::ConvNextBlock> blocks_;
  nn::Norm norm_;
  nn::Linear head_;
};

}  // namespace

std::unique_ptr<Network> make_network(const nn::Scope& scope, const SeparatorConfig& config,
                                      const std::vector<int64_t>& features) {
  if (config.architecture == Architecture::kConvNext) {
    return std::make_unique<ConvNext>(scope, config, features);
  }
  return std::make_unique<BandSplit>(scope, config, features);
}

}  // namespace hum::models::separator
