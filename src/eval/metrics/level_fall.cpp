#include "eval/metrics/level_fall.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/quantile.h"
#include "eval/metrics/envelope.h"

namespace hum::eval {
namespace {

constexpr double kBefore_s = 0.02;  // onsets are heard late by up to that
constexpr double kAttack_s = 0.1;

int64_t frames_in(double seconds) { return std::llround(seconds / kEnvelopeHop_s); }

}  // namespace

std::optional<double> level_fall_db(std::span<const float> samples, int rate_hz,
                                    std::span<const PitchedNote> notes) {
  const auto levels = loudness_envelope_db(samples, rate_hz);
  std::vector<double> falls_db;
  for (const PitchedNote& note : notes) {
    const int64_t first = std::max<int64_t>(0, frames_in(note.start_s - kBefore_s));
    const int64_t end = frames_in(note.start_s + kAttack_s);
    if (end > std::ssize(levels)) continue;
    const auto loudest = std::max_element(levels.begin() + first, levels.begin() + end);
    const int64_t later = loudest - levels.begin() + frames_in(kFall_s);
    // A frame is as long as two hops.
    const int64_t note_end = std::min(frames_in(note.end_s), std::ssize(levels) + 1);
    if (later + 2 > note_end) continue;
    falls_db.push_back(*loudest - levels[static_cast<size_t>(later)]);
  }
  if (falls_db.empty()) return {};
  return median(std::move(falls_db));
}

}  // namespace hum::eval
