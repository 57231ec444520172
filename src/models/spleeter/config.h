// Sizes of Spleeter: the spectra of a song, and the U-Nets that filter them. The defaults are those
// of the published weights of two stems.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace hum::models::spleeter {

inline constexpr int kSampleRateHz = 44100;
inline constexpr int kChannels = 2;

struct SpleeterConfig {
  std::vector<std::string> stems = {"vocals", "accompaniment"};
  int64_t window_samples = 4096;
  int64_t hop_samples = 1024;
  int64_t frames = 512;
  int64_t bins = 1024;
  int64_t width = 16;
  int64_t levels = 6;

  template <class V>
  void visit_fields(V& v) {
    v("stems", stems, "names of the stems; each has a U-Net");
    v("window_samples", window_samples, "the spectrum's window");
    v("hop_samples", hop_samples, "samples between frames");
    v("frames", frames, "frames that a U-Net sees at once");
    v("bins", bins, "lowest bins of the spectrum, which it sees; those above are silent in a stem");
    v("width", width, "channels of its first level; each level has twice those of the last");
    v("levels", levels, "number of levels; each has half the frames and half the bins of the last");
  }
};

}  // namespace hum::models::spleeter
