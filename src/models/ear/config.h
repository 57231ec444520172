// Sizes of the ear.
#pragma once

#include <cstdint>

#include "base/bounds.h"
#include "base/fields.h"

namespace hum::models::ear {

struct EarConfig {
  int64_t onset_window_samples = 1024;
  int64_t pitch_window_samples = 4096;
  int64_t channels = 16;
  int64_t pitch_blocks = 2;
  int64_t width = 64;
  int64_t blocks = 5;
  int64_t kernel = 25;

  template <class V>
  void visit_fields(V& v) {
    v("onset_window_samples", onset_window_samples, "the short spectrum's window, for onsets");
    v("pitch_window_samples", pitch_window_samples, "the long spectrum's window, for pitch");
    v("channels", channels, "channels of each semitone");
    v("pitch_blocks", pitch_blocks, "number of blocks over time and semitones");
    v("width", width, "width of the blocks over time");
    v("blocks", blocks, "number of blocks over time");
    v("kernel", kernel, "frames that a block over time sees");
  }
};

// Throws: kConfig for sizes and shares that are out of range or do not fit each other.
void validate(const EarConfig& config, const Bounds& bounds);

}  // namespace hum::models::ear
