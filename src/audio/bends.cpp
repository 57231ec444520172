#include "audio/bends.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace hum::audio {
namespace {

constexpr double kHold = 0.75, kStraight = 0.5;  // of a step
// A glide into a note of up to this length is only the transition from the last pitch.
constexpr double kArrival_s = 0.120;

// Removes the glide into the note.
void begin_on_pitch(std::vector<int>& bends) {
  const auto longest = static_cast<std::ptrdiff_t>(kArrival_s / kBendStep_s);
  const auto end = bends.begin() + std::min(longest, std::ssize(bends) - 1);
  const bool glides = std::is_sorted(bends.begin(), end + 1) ||
                      std::is_sorted(bends.begin(), end + 1, std::greater<>());
  if (glides) std::fill(bends.begin(), end, *end);
}

}  // namespace

std::vector<double> bend_times(const Note& note) {
  const double length_s = note.end_s - note.start_s;
  const auto last = std::max<int64_t>(1, std::llround(length_s / kBendStep_s));
  std::vector<double> times;
  for (int64_t i = 0; i <= last; ++i) {
    times.push_back(note.start_s + length_s * static_cast<double>(i) / static_cast<double>(last));
  }
  return times;
}

std::vector<int> sung_bends(std::span<const double> thirds) {
  std::vector<int> bends;
  int step = 0;
  for (const double sung : thirds) {
    if (std::fabs(sung - step) > kHold || std::fabs(sung) < kStraight) {
      step = static_cast<int>(std::lround(sung));
    }
    bends.push_back(step);
  }
  if (!bends.empty()) begin_on_pitch(bends);
  return bends;
}

void shift_bends(Note& note, int thirds) {
  if (thirds == 0) return;
  if (note.bends.empty()) note.bends = {0, 0};
  for (int& bend : note.bends) bend += thirds;
}

}  // namespace hum::audio
