// Sizes and classes of the preset classifier.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/fields.h"

namespace hum::models::preset_classifier {

// How the bands of the spectrum are spaced.
enum class Spacing { kMel, kOctaves };
inline EnumNames<Spacing> enum_names(Spacing) {
  static constexpr std::pair<Spacing, std::string_view> kNames[] = {{Spacing::kMel, "mel"},
                                                                    {Spacing::kOctaves, "octaves"}};
  return kNames;
}

struct PresetClassifierConfig {
  // One class each, in this order.
  std::vector<std::string> presets;
  Spacing spacing = Spacing::kMel;
  int64_t bands = 96;
  int64_t window_samples = 1024;
  int64_t hop_samples = 512;
  int64_t width = 128;
  int64_t blocks = 4;
  int64_t embedding = 32;

  template <class V>
  void visit_fields(V& v) {
    v("presets", presets, "names of the classes (empty: those of the training data)");
    v("spacing", spacing, "how the bands are spaced: mel, or octaves (equal ratios)");
    v("bands", bands, "bands of the spectrum");
    v("window_samples", window_samples, "spectrum window");
    v("hop_samples", hop_samples, "samples between frames");
    v("width", width, "width of the blocks");
    v("blocks", blocks, "number of blocks");
    v("embedding", embedding, "size of the embedding, the layer before the classes");
  }
};

// Throws: kConfig for sizes and shares that are out of range or do not fit each other.
void validate(const PresetClassifierConfig& config, const Bounds& bounds);

}  // namespace hum::models::preset_classifier
