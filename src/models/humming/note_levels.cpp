#include "models/humming/note_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/humming/melody_columns.h"

namespace hum::models::humming {
namespace {

// An onset is heard up to two frames early or late, so the attack has one difference: that of its
// loudest frames. As uncertain is the end of a note.
constexpr int64_t kAttackFrames = 5, kEndFrames = 3;
// A note that is this much farther than the nearest one counts e times less.
constexpr double kPitchScale_semitones = 6;
// A note's weight is its length, at most this; as many more frames have a difference of zero.
constexpr double kMostFrames = 25, kZeroFrames = 1;

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// By age, of a note from its onset. After the attack the mean of a quarter of the age to either
// side: a decay changes ever more slowly.
std::vector<double> differences_by_age(std::span<const float> truth_db,
                                       std::span<const float> played_db) {
  const auto size = static_cast<int64_t>(truth_db.size());
  const int64_t attack = std::min(size, kAttackFrames);
  const int64_t last = std::max(attack, size - kEndFrames);
  std::vector<double> raw;
  for (int64_t t = 0; t < last; ++t) {
    const auto at = static_cast<size_t>(t);
    raw.push_back(truth_db[at] - played_db[at]);
  }
  const auto loudest = [&](std::span<const float> levels) {
    return std::ranges::max(levels.first(static_cast<size_t>(attack)));
  };
  std::vector<double> result(static_cast<size_t>(attack), loudest(truth_db) - loudest(played_db));
  for (int64_t t = attack; t < last; ++t) {
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
  const size_t features = melody.size() / frames;
  const auto row = [&](size_t t) { return melody.subspan(t * features, features); };
  const auto is_of_age = [&](size_t t, int64_t age) {
    return is_used[t] != 0 && is_sounding(row(t)) && age_frames(row(t)) == age;
  };
  for (size_t t = 0; t < frames; ++t) {
    // The features give the frame that two notes share to the higher one: the lower begins at 1.
    const bool is_late = t > 0 && is_of_age(t, 1) && is_used[t - 1] != 0 && !is_of_age(t - 1, 0);
    if (!is_of_age(t, 0) && !is_late) continue;
    const size_t begin = is_late ? t - 1 : t;
    double pitch = 0;
    size_t end = t;
    for (; end < frames && is_of_age(end, static_cast<int64_t>(end - begin)); ++end) {
      pitch += midi_pitch(row(end));
    }
    const size_t length = end - begin;
    notes_.push_back(
        {pitch / static_cast<double>(end - t),
         differences_by_age(truth_db.subspan(begin, length), played_db.subspan(begin, length))});
  }
}

double NoteLevels::difference_db(double pitch, int64_t age_frames) const {
  const auto distance = [&](const Note& note) { return std::abs(note.pitch - pitch); };
  double nearest = std::numeric_limits<double>::infinity();
  for (const Note& note : notes_) nearest = std::min(nearest, distance(note));
  double sum = 0, weights = kZeroFrames;
  for (const Note& note : notes_) {
    const auto size = static_cast<double>(note.difference_db.size());
    const double weight =
        std::min(size, kMostFrames) * std::exp((nearest - distance(note)) / kPitchScale_semitones);
    const auto at = std::min(static_cast<size_t>(age_frames), note.difference_db.size() - 1);
    sum += weight * note.difference_db[at];
    weights += weight;
  }
  return sum / weights;
}

}  // namespace hum::models::humming
