#include "pipeline/quantise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kTogether_s = 0.03;    // notes of a chord
constexpr double kShortest_s = 0.03;    // moved notes stay at least this long
constexpr double kApart_s = 0.01;       // onsets stay at least this far apart
constexpr double kLegato_beats = 0.25;  // smaller gaps count as legato

// Lines of the grid, counted from the first beat; may be negative.
class Grid {
 public:
  Grid(const Tempo& tempo, const QuantiseOptions& options)
      : first_s_(tempo.first_beat_s),
        step_s_(tempo.beat_s() * options.grid_beats),
        late_s_((2 * options.swing - 1) * step_s_) {}

  double line_s(int64_t index) const {
    return first_s_ + static_cast<double>(index) * step_s_ + (index % 2 != 0 ? late_s_ : 0);
  }
  int64_t nearest(double time_s) const {
    const auto guess = static_cast<int64_t>(std::floor((time_s - first_s_) / step_s_));
    int64_t best = guess - 1;
    for (int64_t i = guess - 1; i <= guess + 1; ++i) {
      const bool nearer = std::abs(line_s(i) - time_s) < std::abs(line_s(best) - time_s);
      if (line_s(best) < 0 || nearer) best = i;
    }
    return best;
  }

 private:
  double first_s_, step_s_, late_s_;
};

// The new time of each onset. Shapes: sorted times in, as many out, in the same order.
std::vector<double> snapped(std::span<const double> times_s, const Grid& grid) {
  std::vector<int64_t> lines;
  for (const double time_s : times_s) lines.push_back(grid.nearest(time_s));
  std::vector<double> result;
  for (size_t first = 0; first < lines.size();) {
    size_t end = first, winner = first;
    const double line_s = grid.line_s(lines[first]);
    for (; end < lines.size() && lines[end] == lines[first]; ++end) {
      if (std::abs(times_s[end] - line_s) < std::abs(times_s[winner] - line_s)) winner = end;
    }
    for (size_t i = first; i < end; ++i) {
      double target_s = line_s + (times_s[i] - times_s[winner]);
      if (!result.empty()) target_s = std::max(target_s, result.back() + kApart_s);
      result.push_back(std::max(0.0, target_s));
    }
    first = end;
  }
  return result;
}

// Onsets before and after; notes that start together count as one.
struct Onsets {
  std::vector<double> before_s, after_s;

  size_t index_of(double start_s) const {
    const auto after = std::ranges::upper_bound(before_s, start_s);
    return static_cast<size_t>(after - before_s.begin()) - 1;
  }
};

Onsets move_onsets(std::span<const Note> notes, const Grid& grid, double strength) {
  std::vector<double> starts;
  for (const Note& note : notes) starts.push_back(note.start_s);
  std::ranges::sort(starts);
  Onsets onsets;
  for (const double start_s : starts) {
    if (!onsets.before_s.empty() && start_s - onsets.before_s.back() < kTogether_s) continue;
    onsets.before_s.push_back(start_s);
  }
  onsets.after_s = snapped(onsets.before_s, grid);
  for (size_t i = 0; i < onsets.after_s.size(); ++i) {
    onsets.after_s[i] = onsets.before_s[i] + strength * (onsets.after_s[i] - onsets.before_s[i]);
  }
  return onsets;
}

}  // namespace

std::vector<Note> quantise(std::span<const Note> notes, const Tempo& tempo,
                           const QuantiseOptions& options) {
  HUM_REQUIRE(options.grid_beats > 0 && options.strength >= 0 && options.strength <= 1 &&
                  options.swing >= 0.5 && options.swing < 1,
              "quantise: grid {} beats, strength {}, swing {}", options.grid_beats,
              options.strength, options.swing);
  const Grid grid(tempo, options);
  const Onsets onsets = move_onsets(notes, grid, options.strength);
  std::vector<Note> result(notes.begin(), notes.end());
  for (Note& note : result) {
    const size_t here = onsets.index_of(note.start_s);
    const double moved_s = onsets.after_s[here] - onsets.before_s[here];
    // The onset after this end: the first that is not well before it.
    const auto next = std::ranges::lower_bound(
        onsets.before_s, std::max(note.end_s - kTogether_s, note.start_s + kTogether_s));
    const bool is_legato =
        next != onsets.before_s.end() && *next - note.end_s < kLegato_beats * tempo.beat_s();
    double end_moved_s = options.strength * (grid.line_s(grid.nearest(note.end_s)) - note.end_s);
    if (is_legato) {
      const auto index = static_cast<size_t>(next - onsets.before_s.begin());
      end_moved_s = onsets.after_s[index] - onsets.before_s[index];
    }
    const double length_s = note.end_s - note.start_s;
    note.start_s += moved_s;
    note.end_s += end_moved_s;
    if (note.end_s < note.start_s + std::min(length_s, kShortest_s)) {
      note.end_s = note.start_s + std::min(length_s, kShortest_s);
    }
  }
  return result;
}

std::vector<Note> at_tempo(std::span<const Note> notes, const Tempo& from, double to_bpm) {
  const double stretch = from.bpm / to_bpm;
  std::vector<Note> result(notes.begin(), notes.end());
  double earliest_s = 0;
  for (Note& note : result) {
    note.start_s = from.first_beat_s + stretch * (note.start_s - from.first_beat_s);
    note.end_s = from.first_beat_s + stretch * (note.end_s - from.first_beat_s);
    earliest_s = std::min(earliest_s, note.start_s);
  }
  for (Note& note : result) {
    note.start_s -= earliest_s;
    note.end_s -= earliest_s;
  }
  return result;
}

void correct_pitch(std::span<Note> notes, double strength) {
  HUM_REQUIRE(strength >= 0 && strength <= 1, "correct_pitch: strength {}", strength);
  if (strength == 0) return;
  for (Note& note : notes) {
    for (int& bend : note.bends) bend = static_cast<int>(std::lround((1 - strength) * bend));
    if (std::ranges::all_of(note.bends, [](int bend) { return bend == 0; })) note.bends.clear();
  }
}

}  // namespace hum::pipeline
