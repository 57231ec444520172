// Sizes of the separator of six stems, and the bands into which it splits a spectrum.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/fields.h"

namespace hum::models::separator {

inline constexpr int kSampleRateHz = 44100;
inline constexpr int kChannels = 2;
// In the order of the masks.
inline constexpr std::array<std::string_view, 6> kStems = {"drums", "bass",    "vocals",
                                                           "lead",  "chordal", "other"};
inline constexpr int64_t kStemCount = std::ssize(kStems);

enum class Architecture { kBandSplit, kConvNext };
inline EnumNames<Architecture> enum_names(Architecture) {
  static constexpr std::pair<Architecture, std::string_view> kNames[] = {
      {Architecture::kBandSplit, "band_split"}, {Architecture::kConvNext, "convnext"}};
  return kNames;
}

struct SeparatorConfig {
  Architecture architecture = Architecture::kBandSplit;
  int64_t window_samples = 4096;
  int64_t hop_samples = 1024;
  double highest_hz = 16000;
  int64_t bands = 32;
  int64_t frames = 172;
  int64_t width = 64;
  int64_t blocks = 3;
  // Of band_split.
  int64_t heads = 4;
  int64_t mask_width = 128;
  // Of convnext.
  int64_t kernel = 7;

  // The lowest bins of the spectrum, which the network sees.
  int64_t bins() const;
  // Of the whole spectrum.
  int64_t all_bins() const { return window_samples / 2 + 1; }
  // Samples that `frames` frames cover.
  int64_t segment_samples() const { return (frames - 1) * hop_samples + window_samples; }

  template <class V>
  void visit_fields(V& v) {
    v("architecture", architecture,
      "band_split (attention over time and bands) or convnext (convolutions over time)");
    v("window_samples", window_samples, "the spectrum's window");
    v("hop_samples", hop_samples, "samples between frames: a quarter of the window");
    v("highest_hz", highest_hz,
      "the network sees the bins below; those above get the gains of the highest band");
    v("bands", bands, "bands of the bins; they grow with the frequency");
    v("frames", frames, "frames that the network sees at once, after training");
    v("width", width, "features of each band (band_split) or frame (convnext)");
    v("blocks", blocks, "number of blocks");
    v("heads", heads, "attention heads of a block (band_split)");
    v("mask_width", mask_width, "hidden features between a band and its masks (band_split)");
    v("kernel", kernel, "frames that a block sees (convnext)");
  }
};

// Throws: kConfig for sizes that are out of range or do not fit each other.
void validate(const SeparatorConfig& config, const Bounds& bounds);

// Where each band begins, and the end of the last: 0, ..., bins(). Low bands have one bin.
std::vector<int64_t> band_edges(const SeparatorConfig& config);

}  // namespace hum::models::separator
