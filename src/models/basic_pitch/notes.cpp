#include "models/basic_pitch/notes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace hum::models::basic_pitch {
namespace {

// A note ends once it has been quiet for this many frames.
constexpr int64_t kQuietFrames = 11;

int64_t pitch_index(double frequency_hz) {
  const double midi = 69.0 + 12.0 * std::log2(frequency_hz / 440.0);
  const auto index = static_cast<int64_t>(std::nearbyint(midi - kLowestPitch));
  return std::clamp<int64_t>(index, 0, kPitches);
}

int64_t minimum_frames(const NoteOptions& options) {
  const double frame_rate = static_cast<double>(kSampleRateHz) / kFrameHopSamples;
  return static_cast<int64_t>(std::nearbyint(options.minimum_note_length_ms / 1000.0 * frame_rate));
}

// Note probabilities that no note has claimed yet. Claiming a frame also clears the adjacent
// semitones.
class RemainingEnergy {
 public:
  RemainingEnergy(const Matrix<float>& notes, double threshold)
      : left_(notes), threshold_(threshold) {}

  int64_t frames() const { return left_.rows; }
  float at(int64_t frame, int64_t pitch) const { return left_(frame, pitch); }
  bool is_quiet(int64_t frame, int64_t pitch) const { return left_(frame, pitch) < threshold_; }
  void clear_one(int64_t frame, int64_t pitch) { left_(frame, pitch) = 0; }
  void clear(int64_t frame, int64_t pitch) {
    const int64_t low = std::max<int64_t>(pitch - 1, 0);
    const int64_t high = std::min<int64_t>(pitch + 1, kPitches - 1);
    for (int64_t p = low; p <= high; ++p) left_(frame, p) = 0;
  }

 private:
  Matrix<float> left_;
  double threshold_;
};

float mean_amplitude(const Matrix<float>& notes, int64_t start, int64_t end, int64_t pitch) {
  double sum = 0;
  for (int64_t t = start; t < end; ++t) sum += notes(t, pitch);
  return static_cast<float>(sum / static_cast<double>(end - start));
}

struct Onset {
  int64_t frame;
  int64_t pitch;
};

// Strict local maxima over time that reach the threshold, latest first, then highest first.
template <typename T>
std::vector<Onset> pick_onsets(const Matrix<T>& onsets, double threshold) {
  std::vector<Onset> found;
  for (int64_t t = onsets.rows - 2; t >= 1; --t) {
    for (int64_t p = onsets.columns - 1; p >= 0; --p) {
      const T value = onsets(t, p);
      const bool is_peak = value > onsets(t - 1, p) && value > onsets(t + 1, p);
      if (is_peak && value >= threshold) found.push_back({t, p});
    }
  }
  return found;
}

// Follows each onset forward until the note has been quiet for kQuietFrames.
void notes_from_onsets(const std::vector<Onset>& onsets, const Matrix<float>& notes,
                       int64_t shortest_frames, RemainingEnergy& remaining,
                       std::vector<FrameNote>& found) {
  const int64_t last = remaining.frames() - 1;
  for (const auto& [start, pitch] : onsets) {
    int64_t end = start + 1;
    int64_t quiet = 0;
    while (end < last && quiet < kQuietFrames) {
      quiet = remaining.is_quiet(end, pitch) ? quiet + 1 : 0;
      ++end;
    }
    end -= quiet;
    if (end - start <= shortest_frames) continue;
    for (int64_t t = start; t < end; ++t) remaining.clear(t, pitch);
    found.push_back({start, end, static_cast<int>(pitch) + kLowestPitch,
                     mean_amplitude(notes, start, end, pitch)});
  }
}

// Walks from `from` in direction `step`, claiming frames, until kQuietFrames or the end of the
// recording; returns the frame after (or before) the last one that sounded.
int64_t claim(RemainingEnergy& remaining, int64_t from, int64_t pitch, int64_t step) {
  const int64_t stop = step > 0 ? remaining.frames() - 1 : 0;
  int64_t t = from + step;
  int64_t quiet = 0;
  while ((stop - t) * step > 0 && quiet < kQuietFrames) {
    quiet = remaining.is_quiet(t, pitch) ? quiet + 1 : 0;
    remaining.clear(t, pitch);
    t += step;
  }
  return t - step * quiet;
}

// The melodia trick: grows notes from the loudest unclaimed frames. Energy only ever changes to
// zero, so one sort replaces a search for the maximum before each note; equal values keep their
// time-frequency order.
void notes_from_energy(const Matrix<float>& notes, double threshold, int64_t shortest_frames,
                       RemainingEnergy& remaining, std::vector<FrameNote>& found) {
  std::vector<std::pair<float, int64_t>> seeds;
  for (int64_t t = 0; t < notes.rows; ++t) {
    for (int64_t p = 0; p < notes.columns; ++p) {
      const float value = remaining.at(t, p);
      if (value > threshold) seeds.emplace_back(-value, t * notes.columns + p);
    }
  }
  std::ranges::sort(seeds);
  for (const auto& [unused, index] : seeds) {
    const int64_t middle = index / notes.columns;
    const int64_t pitch = index % notes.columns;
    if (remaining.at(middle, pitch) == 0) continue;
    remaining.clear_one(middle, pitch);
    const int64_t end = claim(remaining, middle, pitch, 1) - 1;
    const int64_t start = claim(remaining, middle, pitch, -1) + 1;
    if (end - start <= shortest_frames) continue;
    found.push_back({start, end, static_cast<int>(pitch) + kLowestPitch,
                     mean_amplitude(notes, start, end, pitch)});
  }
}

}  // namespace

void validate(const NoteOptions& options) {
  const auto require = [](bool ok, const char* flag, double value, const char* range) {
    if (ok) return;
    fail(ExitCode::kUsage, fmt::format("{}: {} is out of range", flag, value),
         fmt::format("use {}", range));
  };
  const auto is_probability = [](double value) { return value >= 0 && value <= 1; };
  const auto is_frequency = [](double value) { return value >= 0 && std::isfinite(value); };
  require(is_probability(options.onset_threshold), "--onset-threshold", options.onset_threshold,
          "a number from 0 to 1");
  require(is_probability(options.frame_threshold), "--frame-threshold", options.frame_threshold,
          "a number from 0 to 1");
  require(options.minimum_note_length_ms >= 0 && options.minimum_note_length_ms <= 60000,
          "--minimum-note-length", options.minimum_note_length_ms, "0 to 60000 milliseconds");
  require(is_frequency(options.minimum_frequency_hz), "--minimum-frequency",
          options.minimum_frequency_hz, "a frequency in Hz");
  require(is_frequency(options.maximum_frequency_hz), "--maximum-frequency",
          options.maximum_frequency_hz, "a frequency in Hz");
  const bool ordered = options.maximum_frequency_hz == 0 ||
                       options.minimum_frequency_hz < options.maximum_frequency_hz;
  require(ordered, "--maximum-frequency", options.maximum_frequency_hz,
          "a frequency above --minimum-frequency");
}

void constrain_frequency(Matrix<float>& notes, Matrix<float>& onsets, const NoteOptions& options) {
  const int64_t low =
      options.minimum_frequency_hz > 0 ? pitch_index(options.minimum_frequency_hz) : 0;
  const int64_t high =
      options.maximum_frequency_hz > 0 ? pitch_index(options.maximum_frequency_hz) : kPitches;
  for (auto* matrix : {&notes, &onsets}) {
    for (int64_t t = 0; t < matrix->rows; ++t) {
      for (int64_t p = 0; p < matrix->columns; ++p) {
        if (p < low || p >= high) (*matrix)(t, p) = 0;
      }
    }
  }
}

Matrix<double> infer_onsets(const Matrix<float>& onsets, const Matrix<float>& notes) {
  constexpr int64_t kRiseFrames = 2;
  Matrix<double> result(onsets.rows, onsets.columns);
  double largest_rise = 0;
  for (int64_t t = kRiseFrames; t < notes.rows; ++t) {
    for (int64_t p = 0; p < notes.columns; ++p) {
      const double now = notes(t, p);
      const double rise = std::min(now - notes(t - 1, p), now - notes(t - 2, p));
      result(t, p) = std::max(rise, 0.0);
      largest_rise = std::max(largest_rise, rise);
    }
  }
  const float largest_onset =
      onsets.values.empty() ? 0.0F : *std::ranges::max_element(onsets.values);
  for (size_t i = 0; i < result.values.size(); ++i) {
    // There are no rises in silence, so only the predicted onsets remain.
    const double scaled = largest_rise > 0 ? largest_onset * result.values[i] / largest_rise : 0.0;
    result.values[i] = std::max<double>(onsets.values[i], scaled);
  }
  return result;
}

std::vector<FrameNote> find_notes(Matrix<float> notes, Matrix<float> onsets,
                                  const NoteOptions& options) {
  constrain_frequency(notes, onsets, options);
  const auto starts = options.infer_onsets
                          ? pick_onsets(infer_onsets(onsets, notes), options.onset_threshold)
                          : pick_onsets(onsets, options.onset_threshold);
  const int64_t shortest_frames = minimum_frames(options);
  RemainingEnergy remaining(notes, options.frame_threshold);
  std::vector<FrameNote> found;
  notes_from_onsets(starts, notes, shortest_frames, remaining, found);
  if (options.melodia) {
    notes_from_energy(notes, options.frame_threshold, shortest_frames, remaining, found);
  }
  return found;
}

std::vector<int> pitch_bends(const Matrix<float>& contour, const FrameNote& note) {
  constexpr int64_t kReachBins = 25;
  constexpr double kDeviationBins = 5;
  const int64_t center = kBinsPerSemitone * (note.pitch - kLowestPitch);
  const int64_t low = std::max<int64_t>(center - kReachBins, 0);
  const int64_t high = std::min<int64_t>(center + kReachBins, kContourBins - 1);
  std::vector<int> bends;
  bends.reserve(static_cast<size_t>(note.end - note.start));
  for (int64_t t = note.start; t < note.end; ++t) {
    int64_t best = low;
    double best_weight = -1;
    for (int64_t bin = low; bin <= high; ++bin) {
      const double offset = static_cast<double>(bin - center) / kDeviationBins;
      const double weight = contour(t, bin) * std::exp(-0.5 * offset * offset);
      if (weight > best_weight) {
        best = bin;
        best_weight = weight;
      }
    }
    bends.push_back(static_cast<int>(best - center));
  }
  return bends;
}

double frame_to_seconds(int64_t frame) {
  constexpr double kFrameSeconds = static_cast<double>(kFrameHopSamples) / kSampleRateHz;
  // The last term aligns basic-pitch's output with its training annotations; it was set by ear and
  // eye.
  constexpr double kWindowOffsetSeconds =
      kFrameSeconds * (kWindowFrames - static_cast<double>(kWindowSamples) / kFrameHopSamples) +
      0.0018;
  const auto window = static_cast<double>(frame / kWindowFrames);
  return static_cast<double>(frame * kFrameHopSamples) / kSampleRateHz -
         kWindowOffsetSeconds * window;
}

std::vector<audio::Note> create_notes(const Posteriors& posteriors, const NoteOptions& options) {
  validate(options);
  const auto& [note, onset, contour] = posteriors;
  HUM_REQUIRE(note.columns == kPitches && onset.columns == kPitches &&
                  contour.columns == kContourBins && onset.rows == note.rows &&
                  contour.rows == note.rows,
              "create_notes: posteriors are [{},{}], [{},{}], [{},{}] instead of [T,88], [T,88], "
              "[T,264]",
              note.rows, note.columns, onset.rows, onset.columns, contour.rows, contour.columns);
  std::vector<audio::Note> notes;
  for (const auto& found : find_notes(note, onset, options)) {
    notes.push_back({frame_to_seconds(found.start), frame_to_seconds(found.end), found.pitch,
                     found.amplitude, pitch_bends(contour, found)});
  }
  std::ranges::sort(notes, {},
                    [](const audio::Note& n) { return std::tuple(n.start_s, n.end_s, n.pitch); });
  return notes;
}

std::vector<audio::Note> drop_overlapping_pitch_bends(std::vector<audio::Note> notes) {
  std::ranges::sort(notes, {}, [](const audio::Note& n) {
    return std::tuple(n.start_s, n.end_s, n.pitch, n.amplitude);
  });
  for (size_t i = 0; i < notes.size(); ++i) {
    for (size_t j = i + 1; j < notes.size() && notes[j].start_s < notes[i].end_s; ++j) {
      notes[i].bends.clear();
      notes[j].bends.clear();
    }
  }
  return notes;
}

}  // namespace hum::models::basic_pitch
