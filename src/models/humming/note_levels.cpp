#include "models/humming/note_levels.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/humming/late_decay.h"
#include "models/humming/note_frames.h"

namespace hum::models::humming {
namespace {

// A note's weight is its length, at most this; as many more frames have a difference of zero.
constexpr double kMostFrames = 25, kZeroFrames = 1;

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// By age, of a note from its onset until its decay is late. The attack has one difference, that of
// its loudest frames. Then the mean of a quarter of the age to either side: a decay changes ever
// more slowly.
std::vector<double> differences_by_age(std::span<const float> truth_db,
                                       std::span<const float> played_db) {
  const auto size = static_cast<int64_t>(truth_db.size());
  const int64_t attack = std::min(size, NoteFrames::kAttack);
  const int64_t last = std::max(attack, size - NoteFrames::kUncertainEnd);
  std::vector<double> raw;
  for (int64_t t = 0; t < last; ++t) {
    const auto at = static_cast<size_t>(t);
    raw.push_back(truth_db[at] - played_db[at]);
  }
  const auto loudest = [&](std::span<const float> levels) {
    return std::ranges::max(levels.first(static_cast<size_t>(attack)));
  };
  std::vector<double> result(static_cast<size_t>(attack), loudest(truth_db) - loudest(played_db));
  for (int64_t t = attack; t < std::min(last, LateDecay::kFirstFrame); ++t) {
    const int64_t from = std::max(attack, t - t / 4), end = std::min(last, t + t / 4 + 1);
    result.push_back(
        mean(std::span(raw).subspan(static_cast<size_t>(from), static_cast<size_t>(end - from))));
  }
  return result;
}

}  // namespace

NoteLevels::NoteLevels(std::span<const float> truth_db, std::span<const float> played_db,
                       std::span<const float> melody, std::span<const uint8_t> is_used) {
  const size_t frames = is_used.size();
  HUM_REQUIRE(frames > 0 && truth_db.size() == frames && played_db.size() == frames &&
                  melody.size() % frames == 0,
              "note levels: {} and {} levels and {} features of {} frames", truth_db.size(),
              played_db.size(), melody.size(), frames);
  for (const NoteFrames& note : notes_in(melody, is_used)) {
    notes_.push_back({note.pitch, differences_by_age(truth_db.subspan(note.first, note.count),
                                                     played_db.subspan(note.first, note.count))});
  }
}

double NoteLevels::difference_db(double pitch, int64_t age_frames) const {
  return mean_by_pitch<Note>(
      notes_, pitch,
      [](const Note& note) {
        return std::min(static_cast<double>(note.difference_db.size()), kMostFrames);
      },
      [&](const Note& note) {
        const auto at = std::min(static_cast<size_t>(age_frames), note.difference_db.size() - 1);
        return note.difference_db[at];
      },
      kZeroFrames);
}

}  // namespace hum::models::humming
