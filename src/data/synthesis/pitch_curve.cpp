#include "data/synthesis/pitch_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hum::data {

PitchCurve::PitchCurve(const audio::Note& note)
    : start_s_(note.start_s), points_per_s_(0), pitch_(note.pitch) {
  const auto count = static_cast<int64_t>(note.bends.size());
  if (std::ranges::all_of(note.bends, [](int bend) { return bend == 0; })) return;
  const double length_s = std::max(note.end_s - note.start_s, 1e-6);
  points_per_s_ = static_cast<double>(count - 1) / length_s;
  semitones_.resize(count);
  constexpr int kWeights[] = {1, 2, 3, 2, 1};
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t k = -2; k <= 2; ++k) {
      sum += kWeights[k + 2] * note.bends[std::clamp<int64_t>(i + k, 0, count - 1)];
    }
    semitones_[i] = sum / 9 / 3;  // nine: the weights' sum; three: thirds to semitones
  }
}

double PitchCurve::at(double time_s) const {
  if (semitones_.empty()) return pitch_;
  const double last = static_cast<double>(semitones_.size() - 1);
  const double place = std::clamp((time_s - start_s_) * points_per_s_, 0.0, last);
  const auto i = static_cast<size_t>(place);
  const size_t next = std::min(i + 1, semitones_.size() - 1);
  const double part = place - static_cast<double>(i);
  return pitch_ + (1 - part) * semitones_[i] + part * semitones_[next];
}

}  // namespace hum::data
