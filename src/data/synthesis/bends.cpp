#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/synthesis/bends_impl.h"
#include "data/synthesis/timing.h"

namespace hum::data::internal {
namespace {

constexpr double kBendStep_s = 256.0 / kSampleRate;

size_t bend_count(double length_s) {
  return static_cast<size_t>(std::max(2.0, std::floor(length_s / kBendStep_s) + 1));
}

struct Vibrato {
  double depth = 0, rate_hz = 0, delay_s = 0;  // depth in semitones

  static Vibrato draw(Rng& rng, double length_s) {
    if (length_s < 0.3 || !rng.chance(0.6)) return {};
    return {rng.uniform(0.2, 0.5), rng.uniform(4.5, 6.5), rng.uniform(0.05, 0.25)};
  }
  // Swells over 0.15 s.
  double at(double time_s) const {
    const double swell = std::clamp((time_s - delay_s) / 0.15, 0.0, 1.0);
    return depth * swell * std::sin(2 * std::numbers::pi * rate_hz * (time_s - delay_s));
  }
};

}  // namespace

std::vector<int> draw_bends(Rng& rng, const audio::Note& note, const audio::Note* before) {
  const double length_s = note.end_s - note.start_s;
  const auto vibrato = Vibrato::draw(rng, length_s);
  double glide_from = 0;
  if (rng.chance(0.35)) {
    const int step = before == nullptr ? 0 : before->pitch - note.pitch;
    const bool from_note = step != 0 && std::abs(step) <= 4 && rng.chance(0.6);
    glide_from = from_note ? 0.7 * step : -rng.uniform(0.5, 2);
  }
  const double glide_s = std::min(rng.uniform(0.05, 0.15), length_s / 3);
  const double fall = rng.chance(0.12) ? -rng.uniform(0.5, 2) : 0;
  const double fall_s = std::min(0.12, length_s / 4);
  std::vector<int> bends(bend_count(length_s));
  const double step_s = length_s / static_cast<double>(bends.size() - 1);
  for (size_t i = 0; i < bends.size(); ++i) {
    const double time_s = static_cast<double>(i) * step_s;
    const double glide = glide_from * std::max(0.0, 1 - time_s / glide_s);
    const double falling = fall * std::max(0.0, 1 - (length_s - time_s) / fall_s);
    bends[i] = static_cast<int>(std::lround(3 * (vibrato.at(time_s) + glide + falling)));
  }
  if (std::ranges::all_of(bends, [](int bend) { return bend == 0; })) bends.clear();
  return bends;
}

void trim_bends(audio::Note& note, double length_before_s) {
  if (note.bends.empty()) return;
  const double length_s = note.end_s - note.start_s;
  const double kept = static_cast<double>(note.bends.size() - 1) * length_s / length_before_s;
  note.bends.resize(std::max<size_t>(2, static_cast<size_t>(std::lround(kept)) + 1),
                    note.bends.back());
}

}  // namespace hum::data::internal
