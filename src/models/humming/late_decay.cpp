#include "models/humming/late_decay.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/humming/config.h"
#include "models/humming/note_frames.h"

namespace hum::models::humming {
namespace {

// A shorter note does not tell how it would die away.
constexpr int64_t kFewestFrames = 20;
// A note that is so much longer than kFirstFrame shows its late decay.
constexpr int64_t kLateFrames = 25;
// A note that has fallen so far has died away: what follows is the noise of its room.
constexpr float kAudible_db = 40;
// Players end notes within the last fifth, and within 0.2 s.
constexpr int64_t kEndShare = 5, kMostEndFrames = 10;
// What dies away falls by so much in its first half, of a note of under a second by more, and in
// all. A bow, a breath or a voice holds it.
constexpr int64_t kShortFrames = 50;
constexpr double kLeastFirstFall_db = 3, kLeastShortFall_db = 4, kLeastWholeFall_db = 6;
constexpr float kMostFall_db = 60;
constexpr double kMostWeight_frames = 100;

// The least-squares line's fall, in dB per frame.
double fall_of(std::span<const float> levels_db) {
  const auto n = static_cast<double>(levels_db.size());
  double sum = 0, mean = 0;
  for (const float level : levels_db) mean += level / n;
  for (size_t t = 0; t < levels_db.size(); ++t) {
    sum += (static_cast<double>(t) - (n - 1) / 2) * (levels_db[t] - mean);
  }
  return n > 1 ? -sum * 12 / (n * (n * n - 1)) : 0;
}

// Until the note has died away.
std::span<const float> audible(std::span<const float> levels_db) {
  const auto loudest = std::ranges::max_element(levels_db);
  const auto end = std::find_if(loudest, levels_db.end(),
                                [&](float level) { return level < *loudest - kAudible_db; });
  return levels_db.first(static_cast<size_t>(std::distance(levels_db.begin(), end)));
}

// The mean level around an age.
double level_at(std::span<const float> levels_db, int64_t age) {
  const int64_t reach = std::min(LateDecay::kStepFrames / 2, std::ssize(levels_db) / 4);
  const int64_t first = std::max<int64_t>(0, age - reach);
  const int64_t end = std::min(std::ssize(levels_db), age + reach + 1);
  double sum = 0;
  for (int64_t t = first; t < end; ++t) sum += levels_db[static_cast<size_t>(t)];
  return sum / static_cast<double>(end - first);
}

// How fast a note dies away at its end, in dB per frame; absent if it is held.
std::optional<double> decay_of(std::span<const float> levels_db) {
  const int64_t frames = std::ssize(levels_db);
  const int64_t attack = std::min(NoteFrames::kAttack, frames);
  const double loudest = std::ranges::max(levels_db.first(static_cast<size_t>(attack)));
  const double first = loudest - level_at(levels_db, frames / 2);
  const double whole = loudest - level_at(levels_db, frames - 1);
  const double least = frames < kShortFrames ? kLeastShortFall_db : kLeastFirstFall_db;
  if (first < least || whole < kLeastWholeFall_db) return std::nullopt;
  // Decays slow down.
  const double late = fall_of(levels_db.subspan(static_cast<size_t>(frames / 2)));
  return std::clamp(late, 0.0, whole / static_cast<double>(frames));
}

// The non-increasing values that are nearest: beats and tremolo are no decay. Source: pool adjacent
// violators.
std::vector<float> non_increasing(std::span<const double> values) {
  struct Pool {
    double mean;
    int64_t count;
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools.back().mean > pools[pools.size() - 2].mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& pool = pools.back();
      const auto total = static_cast<double>(pool.count + last.count);
      pool.mean += (last.mean - pool.mean) * static_cast<double>(last.count) / total;
      pool.count += last.count;
    }
  }
  std::vector<float> result;
  for (const Pool& pool : pools) {
    result.insert(result.end(), static_cast<size_t>(pool.count), static_cast<float>(pool.mean));
  }
  return result;
}

}  // namespace

LateDecay::LateDecay(std::span<const float> levels_db, std::span<const float> melody,
                     std::span<const uint8_t> is_used) {
  HUM_REQUIRE(levels_db.size() == is_used.size(), "late decay: {} levels of {} frames",
              levels_db.size(), is_used.size());
  bool falls = false;
  for (const NoteFrames& frames : notes_in(melody, is_used)) {
    auto note = note_of(levels_db.subspan(frames.first, frames.count), frames.pitch);
    if (!note) continue;
    falls = falls || gain_of(*note, kMelodyLongCountFrames) < -kLeastFirstFall_db;
    notes_.push_back(std::move(*note));
  }
  if (!falls) notes_.clear();
}

// Absent if the note is too short.
std::optional<LateDecay::Note> LateDecay::note_of(std::span<const float> levels_db, double pitch) {
  const int64_t heard = std::ssize(levels_db) - NoteFrames::kUncertainEnd;
  if (heard < kFewestFrames) return std::nullopt;
  Note note{.pitch = static_cast<float>(pitch), .frames = static_cast<float>(heard)};
  auto levels = audible(levels_db.first(static_cast<size_t>(heard)));
  const bool died = std::ssize(levels) < heard;
  if (!died) {
    levels = levels.first(static_cast<size_t>(heard - std::min(heard / kEndShare, kMostEndFrames)));
  }
  const int64_t frames = std::ssize(levels);
  constexpr double kWhole = static_cast<double>(kFirstFrame + kLateFrames);
  const double surety = died ? 1 : std::min(1.0, static_cast<double>(frames) / kWhole);
  const auto decay = decay_of(levels);
  if (!decay) return note;
  note.fall_db = static_cast<float>(*decay * surety);
  std::vector<double> changes;
  for (int64_t age = kFirstFrame; age < frames && std::ssize(changes) < kSteps;
       age += kStepFrames) {
    changes.push_back(level_at(levels, age));
  }
  if (changes.empty()) return note;
  note.gains_db = non_increasing(changes);
  const float known = note.gains_db.front();
  for (float& gain : note.gains_db) gain = std::max(gain - known, -kMostFall_db);
  return note;
}

double LateDecay::gain_of(const Note& note, int64_t age_frames) {
  if (age_frames <= kFirstFrame) return 0;
  const double step = static_cast<double>(age_frames - kFirstFrame) / kStepFrames;
  const auto before = static_cast<size_t>(step);
  const auto& gains = note.gains_db;
  if (before + 1 < gains.size()) {
    const double share = step - static_cast<double>(before);
    return (1 - share) * gains[before] + share * gains[before + 1];
  }
  const double last = gains.empty() ? 0 : gains.back();
  const double steps = step - static_cast<double>(gains.empty() ? 0 : gains.size() - 1);
  return std::max<double>(-kMostFall_db, last - note.fall_db * kStepFrames * steps);
}

double LateDecay::gain_db(double pitch, int64_t age_frames) const {
  return mean_by_pitch<Note>(
      notes_, pitch,
      [](const Note& note) { return std::min<double>(note.frames, kMostWeight_frames); },
      [&](const Note& note) { return gain_of(note, age_frames); });
}

std::vector<float> LateDecay::table() const {
  std::vector<float> rows;
  for (const Note& note : notes_) {
    rows.insert(rows.end(), {note.pitch, note.frames, note.fall_db});
    for (int64_t step = 0; step < kSteps; ++step) {
      rows.push_back(static_cast<float>(gain_of(note, kFirstFrame + step * kStepFrames)));
    }
  }
  return rows;
}

std::optional<LateDecay> LateDecay::of_table(std::span<const float> rows) {
  if (std::ssize(rows) % kTableColumns != 0) return std::nullopt;
  LateDecay decay;
  for (; !rows.empty(); rows = rows.subspan(kTableColumns)) {
    const auto gains = rows.subspan(3, kSteps);
    const bool is_valid =
        std::ranges::all_of(rows.first(kTableColumns), [](float x) { return std::isfinite(x); }) &&
        rows[1] > 0 && rows[2] >= 0 &&
        std::ranges::all_of(gains, [](float x) { return x <= 0 && x >= -kMostFall_db; });
    if (!is_valid) return std::nullopt;
    decay.notes_.push_back({rows[0], rows[1], rows[2], {gains.begin(), gains.end()}});
  }
  return decay;
}

}  // namespace hum::models::humming
