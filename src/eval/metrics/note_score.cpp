#include "eval/metrics/note_score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/bends.h"

namespace hum::eval {
namespace {

using audio::Note;

// Rounds to 4 decimals, so that a distance of exactly the tolerance is inside it.
double rounded(double distance) { return std::nearbyint(distance * 1e4) / 1e4; }

double time_distance(double a_s, double b_s) { return rounded(std::abs(a_s - b_s)); }

bool is_hit(const PitchedNote& reference, const PitchedNote& estimate, int shift_semitones,
            const NoteScoreOptions& options) {
  if (time_distance(reference.start_s, estimate.start_s) > options.onset_tolerance_s) return false;
  const double cents = 1200 * std::log2(reference.hz / estimate.hz) - 100 * shift_semitones;
  if (rounded(std::abs(cents)) > options.pitch_tolerance_cents) return false;
  if (!options.offset_ratio) return true;
  const double duration_s = std::abs(reference.end_s - reference.start_s);
  return time_distance(reference.end_s, estimate.end_s) <=
         std::max(*options.offset_ratio * duration_s, options.offset_min_tolerance_s);
}

// Kuhn's algorithm: each reference note takes an estimate and reassigns earlier ones if needed.
class Matching {
 public:
  Matching(std::vector<std::vector<int>> hits, size_t estimates)
      : hits_(std::move(hits)), taken_by_(estimates, -1) {}

  // In order of the estimates.
  std::vector<NoteMatch> find() {
    for (int reference = 0; reference < static_cast<int>(hits_.size()); ++reference) {
      is_tried_.assign(taken_by_.size(), false);
      place(reference);
    }
    std::vector<NoteMatch> matches;
    for (size_t estimate = 0; estimate < taken_by_.size(); ++estimate) {
      if (taken_by_[estimate] < 0) continue;
      matches.push_back({static_cast<size_t>(taken_by_[estimate]), estimate});
    }
    return matches;
  }

 private:
  bool place(int reference) {
    for (const int hit : hits_[static_cast<size_t>(reference)]) {
      const auto estimate = static_cast<size_t>(hit);
      if (is_tried_[estimate]) continue;
      is_tried_[estimate] = true;
      if (taken_by_[estimate] < 0 || place(taken_by_[estimate])) {
        taken_by_[estimate] = reference;
        return true;
      }
    }
    return false;
  }

  std::vector<std::vector<int>> hits_;  // of each reference note: the estimates that agree with it
  std::vector<int> taken_by_;
  std::vector<bool> is_tried_;
};

std::vector<NoteMatch> match_shifted(std::span<const PitchedNote> reference,
                                     std::span<const PitchedNote> estimate, int shift_semitones,
                                     const NoteScoreOptions& options) {
  std::vector<std::vector<int>> hits(reference.size());
  for (size_t i = 0; i < reference.size(); ++i) {
    for (size_t j = 0; j < estimate.size(); ++j) {
      if (is_hit(reference[i], estimate[j], shift_semitones, options)) {
        hits[i].push_back(static_cast<int>(j));
      }
    }
    std::ranges::stable_sort(hits[i], {}, [&](int j) {
      return std::abs(estimate[static_cast<size_t>(j)].start_s - reference[i].start_s);
    });
  }
  return Matching(std::move(hits), estimate.size()).find();
}

struct BestMatch {
  int shift_semitones = 0;
  std::vector<NoteMatch> matches;
};

BestMatch best_match(std::span<const PitchedNote> reference, std::span<const PitchedNote> estimate,
                     const NoteScoreOptions& options) {
  BestMatch best{0, match_shifted(reference, estimate, 0, options)};
  if (!options.best_octave) return best;
  for (const int shift : {-12, 12, -24, 24}) {
    auto matches = match_shifted(reference, estimate, shift, options);
    if (matches.size() > best.matches.size()) best = {shift, std::move(matches)};
  }
  return best;
}

}  // namespace

std::vector<PitchedNote> as_written(std::span<const Note> notes) {
  std::vector<PitchedNote> result;
  for (const Note& note : notes) {
    result.push_back({note.start_s, note.end_s, audio::midi_to_hz(note.pitch)});
  }
  return result;
}

std::vector<PitchedNote> as_played(std::span<const Note> notes) {
  auto result = as_written(notes);
  for (size_t i = 0; i < notes.size(); ++i) {
    std::vector<int> bends = notes[i].bends;
    if (bends.empty()) continue;
    const auto middle = bends.begin() + std::ssize(bends) / 2;
    std::ranges::nth_element(bends, middle);
    result[i].hz = audio::midi_to_hz(notes[i].pitch + *middle / audio::kBendsPerSemitone);
  }
  return result;
}

std::vector<PitchedNote> as_sung(std::span<const Note> notes) {
  auto result = as_played(notes);
  for (size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].hz > 0) result[i].hz = notes[i].hz;
  }
  return result;
}

NoteScore score_notes(std::span<const PitchedNote> reference, std::span<const PitchedNote> estimate,
                      const NoteScoreOptions& options) {
  const BestMatch best = best_match(reference, estimate, options);
  NoteScore score;
  score.octave_shift_semitones = best.shift_semitones;
  score.matched = static_cast<int>(best.matches.size());
  if (score.matched == 0) return score;
  score.precision = static_cast<double>(score.matched) / static_cast<double>(estimate.size());
  score.recall = static_cast<double>(score.matched) / static_cast<double>(reference.size());
  score.f1 = 2 * score.precision * score.recall / (score.precision + score.recall);
  return score;
}

NoteScore score_notes(std::span<const Note> reference, std::span<const Note> estimate,
                      const NoteScoreOptions& options) {
  return score_notes(as_written(reference), as_written(estimate), options);
}

std::vector<NoteMatch> match_notes(std::span<const PitchedNote> reference,
                                   std::span<const PitchedNote> estimate,
                                   const NoteScoreOptions& options) {
  return best_match(reference, estimate, options).matches;
}

std::vector<NoteMatch> match_notes(std::span<const Note> reference, std::span<const Note> estimate,
                                   const NoteScoreOptions& options) {
  return match_notes(as_written(reference), as_written(estimate), options);
}

}  // namespace hum::eval
