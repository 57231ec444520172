#include "pipeline/sung_notes/melody_line.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "pipeline/sung_notes/note_pieces.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kFrameWithoutSalience_s = 0.010;
constexpr double kMinSalience = 0.01;

// The times of the path: the salience's frames, else a regular grid over the notes.
std::vector<double> frame_times(const Transcription& transcription) {
  if (!transcription.salience.empty()) return transcription.salience.time_s;
  double end_s = 0;
  for (const Note& note : transcription.notes) end_s = std::max(end_s, note.end_s);
  std::vector<double> times;
  for (double at_s = 0; at_s < end_s; at_s += kFrameWithoutSalience_s) times.push_back(at_s);
  return times;
}

class Path {
 public:
  Path(const Transcription& transcription, const MelodyLineOptions& options)
      : notes_(transcription.notes),
        salience_(transcription.salience),
        options_(options),
        times_(frame_times(transcription)) {}

  // For each frame the index of its note; -1: none.
  std::vector<int> find() {
    std::vector<State> states;
    std::vector<int> unfinished;  // notes by start, not yet over
    size_t next = 0;
    for (size_t frame = 0; frame < times_.size(); ++frame) {
      while (next < notes_.size() && notes_[next].start_s <= times_[frame] + kTolerance_s) {
        unfinished.push_back(static_cast<int>(next++));
      }
      std::erase_if(unfinished, [&](int i) { return note(i).end_s <= times_[frame]; });
      if (!unfinished.empty()) states = advance(states, unfinished, frame);
      latest_.push_back(states);
      sounding_.push_back(!unfinished.empty());
    }
    return trace_back();
  }
  double time(size_t frame) const { return times_[frame]; }

 private:
  static constexpr double kTolerance_s = 1e-6;
  // The best path that ends on a note; states do not change during silence.
  struct State {
    int note = -1;
    double score = 0;
    int previous = -1;  // index into the states of the frame before
  };

  const Note& note(int index) const { return notes_[static_cast<size_t>(index)]; }

  double emission(int index, size_t frame) const {
    double value = note(index).amplitude;
    if (!salience_.empty()) {
      const int64_t column = note(index).pitch - salience_.lowest_pitch;
      const bool inside = column >= 0 && column < salience_.sounding.columns;
      value = inside ? salience_.sounding(static_cast<int64_t>(frame), column) : 0;
    }
    return std::log(std::max(value, kMinSalience));
  }

  double transition(int from, int to, size_t frame) const {
    if (from == to) return 0;
    const int leap = std::abs(note(from).pitch - note(to).pitch);
    const bool is_octave = leap == 12 || leap == 19 || leap == 24;
    const bool leaves_early = note(from).end_s > times_[frame];
    return -options_.semitone_cost * std::min(leap, 24) -
           (is_octave ? options_.octave_jump_cost : 0) - (leaves_early ? options_.switch_cost : 0);
  }

  std::vector<State> advance(const std::vector<State>& before, const std::vector<int>& sounding,
                             size_t frame) const {
    std::vector<State> after;
    for (const int index : sounding) {
      State best{index, before.empty() ? 0 : -std::numeric_limits<double>::infinity(), -1};
      for (size_t i = 0; i < before.size(); ++i) {
        const double score = before[i].score + transition(before[i].note, index, frame);
        if (score > best.score) best = {index, score, static_cast<int>(i)};
      }
      best.score += emission(index, frame);
      after.push_back(best);
    }
    return after;
  }

  std::vector<int> trace_back() const {
    std::vector<int> owner(times_.size(), -1);
    if (latest_.empty() || latest_.back().empty()) return owner;
    const auto& last = latest_.back();
    auto at = static_cast<int>(std::ranges::max_element(last, {}, &State::score) - last.begin());
    for (size_t frame = times_.size(); frame-- > 0 && at >= 0;) {
      // During silence the states are those of the last sounding frame, so there is no transition.
      if (!sounding_[frame]) continue;
      const State& state = latest_[frame][static_cast<size_t>(at)];
      owner[frame] = state.note;
      at = state.previous;
    }
    return owner;
  }

  const std::vector<Note>& notes_;
  const Salience& salience_;
  const MelodyLineOptions& options_;
  std::vector<double> times_;
  std::vector<std::vector<State>> latest_;
  std::vector<bool> sounding_;
};

struct Fragment {
  Note note;
  int source = -1;
};

// Runs of frames with one owner. A note that is not cut keeps its exact times.
std::vector<Fragment> cut_along(const std::vector<Note>& notes, const std::vector<int>& owner,
                                const Path& path) {
  std::vector<Fragment> fragments;
  for (size_t first = 0; first < owner.size();) {
    size_t end = first + 1;
    while (end < owner.size() && owner[end] == owner[first]) ++end;
    if (owner[first] >= 0) {
      const Note& note = notes[static_cast<size_t>(owner[first])];
      const bool starts_late = first > 0 && path.time(first - 1) >= note.start_s;
      const bool stops_early = end < owner.size() && path.time(end) < note.end_s;
      const double start_s = starts_late ? path.time(first) : note.start_s;
      const double end_s = stops_early ? path.time(end) : note.end_s;
      if (end_s > start_s) fragments.push_back({cut_note(note, start_s, end_s), owner[first]});
    }
    first = end;
  }
  return fragments;
}

// Whether a note begins at this time: the onset posterior within 30 ms.
bool has_onset(const Salience& salience, const Note& note, double threshold) {
  if (salience.empty()) return false;
  const int64_t column = note.pitch - salience.lowest_pitch;
  if (column < 0 || column >= salience.onset.columns) return false;
  const auto first = std::ranges::lower_bound(salience.time_s, note.start_s - 0.030);
  for (auto t = first; t != salience.time_s.end() && *t <= note.start_s + 0.030; ++t) {
    if (salience.onset(t - salience.time_s.begin(), column) >= threshold) return true;
  }
  return false;
}

std::vector<Fragment> merged(const std::vector<Fragment>& fragments, const Salience& salience,
                             const MelodyLineOptions& options) {
  std::vector<Fragment> result;
  for (const Fragment& fragment : fragments) {
    const bool is_near = !result.empty() && result.back().note.pitch == fragment.note.pitch &&
                         fragment.note.start_s - result.back().note.end_s < options.merge_gap_s;
    const bool is_same = is_near && result.back().source == fragment.source;
    if (is_same || (is_near && !has_onset(salience, fragment.note, options.onset_threshold))) {
      result.back().note = join_notes(result.back().note, fragment.note);
      result.back().source = fragment.source;
    } else {
      result.push_back(fragment);
    }
  }
  return result;
}

}  // namespace

std::vector<Note> melody_line(const Transcription& transcription,
                              const MelodyLineOptions& options) {
  Transcription sorted = transcription;
  std::ranges::stable_sort(sorted.notes, {}, &Note::start_s);
  Path path(sorted, options);
  auto fragments = cut_along(sorted.notes, path.find(), path);
  fragments = merged(fragments, sorted.salience, options);
  std::erase_if(fragments, [&](const Fragment& fragment) {
    return fragment.note.end_s - fragment.note.start_s < options.min_note_s;
  });
  // Notes that a dropped note had separated may join again.
  fragments = merged(fragments, sorted.salience, options);
  std::vector<Note> line;
  for (Fragment& fragment : fragments) line.push_back(std::move(fragment.note));
  return line;
}

}  // namespace hum::pipeline
