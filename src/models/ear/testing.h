// Frames of a perfect ear, for tests of what is made of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "base/bf16.h"
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
                .f0 = audio::Matrix<uint16_t>(frames_, kPitches),
                .note = audio::Matrix<float>(frames_, kPitches)} {
    for (int64_t t = 0; t < frames_; ++t) set(t, uniform(), uniform());
  }

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
      set(t, peak(midi + f0(at_s - start_s)), peak(midi));
    }
    return *this;
  }
  const Frames& frames() const { return result_; }

 private:
  using Row = std::array<float, kPitches>;

  static Row uniform() {
    Row row;
    row.fill(1 / static_cast<float>(kPitches));
    return row;
  }
  static Row peak(double midi) {
    Row row;
    double sum = 0;
    for (size_t bin = 0; bin < row.size(); ++bin) {
      const double off = (static_cast<double>(bin) - pitch_bin(midi)) / 1.25;
      row[bin] = static_cast<float>(std::exp(-0.5 * off * off) + 1e-4);
      sum += row[bin];
    }
    for (float& p : row) p /= static_cast<float>(sum);
    return row;
  }
  void set(int64_t frame, const Row& f0, const Row& note) {
    std::ranges::transform(f0, result_.f0.row(frame).begin(), to_bf16);
    std::ranges::copy(note, result_.note.row(frame).begin());
  }

  int64_t frames_;
  Frames result_;
};

}  // namespace hum::models::ear
