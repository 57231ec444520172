// Frames of a perfect ear, for tests of what is made of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "models/ear/decoder.h"
#include "models/ear/grid.h"

namespace hum::models::ear {

class Played {
 public:
  explicit Played(double seconds)
      : frames_(static_cast<int64_t>(seconds * kSampleRateHz / kHop)),
        result_{.voiced = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .onset = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .offset = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .f0 = uniform(),
                .note = uniform()} {}

  // `f0`: semitones above the note's pitch over time.
  Played& note(
      double start_s, double end_s, double midi,
      const std::function<double(double)>& f0 = [](double) { return 0.0; }) {
    for (int64_t t = 0; t < frames_; ++t) {
      const double at_s = frame_s(static_cast<double>(t));
      const auto i = static_cast<size_t>(t);
      result_.onset[i] = std::max(result_.onset[i],
                                  static_cast<float>(0.95 * (1 - std::abs(at_s - start_s) / 0.02)));
      if (at_s < start_s || at_s >= end_s) continue;
      result_.voiced[i] = 0.98F;
      peak(result_.f0.row(t), midi + f0(at_s - start_s));
      peak(result_.note.row(t), midi);
    }
    return *this;
  }
  const Frames& frames() const { return result_; }

 private:
  audio::Matrix<float> uniform() const {
    audio::Matrix<float> matrix(frames_, kPitches);
    std::ranges::fill(matrix.values, 1 / static_cast<float>(kPitches));
    return matrix;
  }
  static void peak(std::span<float> row, double midi) {
    double sum = 0;
    for (size_t bin = 0; bin < row.size(); ++bin) {
      const double off = (static_cast<double>(bin) - pitch_bin(midi)) / 1.25;
      row[bin] = static_cast<float>(std::exp(-0.5 * off * off) + 1e-4);
      sum += row[bin];
    }
    for (float& p : row) p /= static_cast<float>(sum);
  }

  int64_t frames_;
  Frames result_;
};

}  // namespace hum::models::ear
