// Rotary positions: rotates pairs of a head's elements by angles proportional to the position;
// element i is paired with i + half, as in Llama.
//
// B batch, T positions, H heads, d head size.
// Source: Su et al. 2021, "RoFormer"; scaling to longer texts: Chen et al. 2023 (linear), Peng et
// al. 2023 (YaRN), Llama 3.1's by-parts rule; all as in Hugging Face transformers'
// modeling_rope_utils.py.
#pragma once

#include <vector>

#include "base/fields.h"
#include "graph/value.h"

namespace hum::nn {

enum class RopeStretch { kNone, kLinear, kLlama3, kYarn };
inline EnumNames<RopeStretch> enum_names(RopeStretch) {
  static constexpr std::pair<RopeStretch, std::string_view> kNames[] = {
      {RopeStretch::kNone, "none"},
      {RopeStretch::kLinear, "linear"},
      {RopeStretch::kLlama3, "llama3"},
      {RopeStretch::kYarn, "yarn"}};
  return kNames;
}

// How a model handles texts longer than those it was first trained on.
struct RopeScaling {
  RopeStretch kind = RopeStretch::kNone;
  double factor = 1;
  // llama3, yarn: the context length of the original training.
  int64_t original_positions = 8192;
  // llama3: wavelengths above original_positions / low are slowed by the factor; those below
  // original_positions / high do not change.
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  // yarn: pairs that turn more than beta_fast times over original_positions do not change, those
  // that turn less than beta_slow times are slowed; the limits are rounded to whole pairs if
  // truncate is set.
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;
  // yarn: multiplies sine and cosine; 0: 0.1 ln(factor) + 1.
  double attention_factor = 0;

  template <class V>
  void visit_fields(V& v) {
    v("kind", kind, "none, linear, llama3 or yarn");
    v("factor", factor, "factor by which the context is extended");
    v("original_positions", original_positions,
      "context length of the original training (llama3, yarn)");
    v("low_frequency_factor", low_frequency_factor, "limit of the slowed wavelengths (llama3)");
    v("high_frequency_factor", high_frequency_factor,
      "limit of the unchanged wavelengths (llama3)");
    v("beta_fast", beta_fast, "turns above which a pair is unchanged (yarn)");
    v("beta_slow", beta_slow, "turns below which a pair is slowed (yarn)");
    v("truncate", truncate, "round the limits to whole pairs (yarn)");
    v("attention_factor", attention_factor, "scale of sine and cosine; 0: from the factor (yarn)");
  }
};

struct RopeRates {
  // Radians per position, one per pair.
  std::vector<float> rates;
  double magnitude = 1;
};

// Rates for `rotated` elements (even).
RopeRates rope_rates(int64_t rotated, double theta, const RopeScaling& scaling = {});

// Cosines, then sines, of the positions' angles, as kernels/rotary/rotary.h takes them.
// Shapes: positions_T i32 -> f32[T, 2, rates].
graph::Value rotary_waves(const graph::Value& positions_T, const RopeRates& rates);

// Rotates the first 2 * rates.size() elements of the first `members` heads of every group; the rest
// do not change. B batch, T positions, G groups, M heads per group, d head size; computed in f32.
// Shapes: x_BTGMd, positions_T i32 -> BTGMd.
graph::Value rotate(const graph::Value& x_BTGMd, int64_t members, const graph::Value& positions_T,
                    const RopeRates& rates);

}  // namespace hum::nn
