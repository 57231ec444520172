#include "eval/harness/hum_score.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quantile.h"
#include "data/synthesis/window.h"
#include "eval/metrics/note_score.h"

namespace hum::eval {
namespace {

using audio::Note;

// Shifts the notes by -1, 0 or 1 semitone, whichever matches the most notes; 0 wins ties.
std::vector<Note> best_semitone(std::span<const Note> reference, const std::vector<Note>& heard) {
  std::vector<Note> best = heard;
  int matched = score_notes(reference, heard, {.best_octave = true}).matched;
  for (const int shift : {-1, 1}) {
    auto moved = data::shifted(heard, 0, shift);
    const int count = score_notes(reference, moved, {.best_octave = true}).matched;
    if (count <= matched) continue;
    matched = count;
    best = std::move(moved);
  }
  return best;
}

void add_distances(std::span<const Note> reference, std::span<const Note> heard, double tolerance_s,
                   std::vector<double>& distances_s) {
  for (const auto& match :
       match_notes(reference, heard, {.onset_tolerance_s = tolerance_s, .best_octave = true})) {
    distances_s.push_back(
        std::fabs(heard[match.estimate].start_s - reference[match.reference].start_s));
  }
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return {};
  return median(std::move(values));
}

}  // namespace

HumScore score_hums(std::span<const KnownHum> hums, std::span<const std::vector<Note>> heard) {
  HUM_REQUIRE(!hums.empty() && hums.size() == heard.size(), "score_hums: {} hums, {} readings",
              hums.size(), heard.size());
  HumScore result;
  std::vector<double> near_s, wide_s;
  const auto count = static_cast<double>(hums.size());
  for (size_t i = 0; i < hums.size(); ++i) {
    const auto& reference = hums[i].notes;
    const auto moved = best_semitone(reference, heard[i]);
    const NoteScore score = score_notes(reference, moved, {.best_octave = true});
    result.f1 += score.f1 / count;
    result.precision += score.precision / count;
    result.recall += score.recall / count;
    add_distances(reference, moved, NoteScoreOptions().onset_tolerance_s, near_s);
    add_distances(reference, moved, kWideOnset_s, wide_s);
  }
  result.onset_s = median_of(std::move(near_s));
  result.wide_onset_s = median_of(std::move(wide_s));
  return result;
}

}  // namespace hum::eval
