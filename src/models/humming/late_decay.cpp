#include "models/humming/late_decay.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/humming/melody_columns.h"
#include "models/humming/note_frames.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kHop = 441;
// A shorter note does not tell how it would die away.
constexpr int64_t kFewestFrames = 20;
// A note that is so much longer than kFirstFrame has a late decay of its own.
constexpr int64_t kLateFrames = 25;
// A note that has fallen so far has died away: what follows is the noise of its room.
constexpr float kAudible_db = 40;
// A slower fall, or a smaller change, is expression. In dB per frame: 2 dB a second.
constexpr double kLeastFall_db = 0.04, kLeastChange_db = 6;
constexpr float kMostFall_db = 60;
// A note that is this much farther than the nearest one counts e times less.
constexpr double kPitchScale_semitones = 6;
constexpr double kMostWeight_frames = 100;
// At an onset the gain changes within 5 ms.
constexpr int64_t kRampSamples = 110;

// The least-squares line's fall, in dB per frame.
double fall_of(std::span<const float> levels_db) {
  const auto n = static_cast<double>(levels_db.size());
  double sum = 0, mean = 0;
  for (const float level : levels_db) mean += level / n;
  for (size_t t = 0; t < levels_db.size(); ++t) {
    sum += (static_cast<double>(t) - (n - 1) / 2) * (levels_db[t] - mean);
  }
  return -sum * 12 / (n * (n * n - 1));
}

// Until the note has died away, but kFewestFrames at least.
std::span<const float> audible(std::span<const float> levels_db) {
  const auto loudest = std::ranges::max_element(levels_db);
  const auto end = std::find_if(loudest, levels_db.end(),
                                [&](float level) { return level < *loudest - kAudible_db; });
  return levels_db.first(
      static_cast<size_t>(std::max<int64_t>(kFewestFrames, std::distance(levels_db.begin(), end))));
}

// Around an age.
std::span<const float> around(std::span<const float> levels_db, int64_t age) {
  constexpr int64_t kReach = LateDecay::kStepFrames / 2;
  const int64_t first = age - kReach, end = std::min(std::ssize(levels_db), age + kReach + 1);
  return levels_db.subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
}

double mean_of(std::span<const float> levels_db) {
  double sum = 0;
  for (const float level : levels_db) sum += level;
  return sum / static_cast<double>(levels_db.size());
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
    falls = falls || note->fall_db > 0 || !note->gains_db.empty();
    notes_.push_back(std::move(*note));
  }
  if (!falls) notes_.clear();
}

// Absent if the note is too short.
std::optional<LateDecay::Note> LateDecay::note_of(std::span<const float> levels_db, double pitch) {
  const int64_t heard = std::ssize(levels_db) - NoteFrames::kUncertainEnd;
  if (heard < kFewestFrames) return std::nullopt;
  const auto levels = audible(levels_db.first(static_cast<size_t>(heard)));
  const int64_t frames = std::ssize(levels);
  const auto from = [&](int64_t first) { return levels.subspan(static_cast<size_t>(first)); };
  Note note{.pitch = static_cast<float>(pitch), .frames = static_cast<float>(frames)};
  // Decays slow down; what falls only at its end does not die away by itself.
  const double fall = std::min(fall_of(from(NoteFrames::kAttack)),
                               fall_of(from(std::max<int64_t>(NoteFrames::kAttack, frames / 2))));
  constexpr double kWhole = static_cast<double>(kFirstFrame + kLateFrames);
  const double surety =
      frames < heard ? 1 : std::min(1.0, static_cast<double>(frames) / kWhole);  // 1: it died away
  if (fall >= kLeastFall_db) note.fall_db = static_cast<float>(fall * surety);
  if (frames <= kFirstFrame) return note;
  const double known = mean_of(around(levels, kFirstFrame));
  for (int64_t age = kFirstFrame; age < frames && std::ssize(note.gains_db) < kSteps;
       age += kStepFrames) {
    const double change_db = mean_of(around(levels, age)) - known;
    note.gains_db.push_back(std::clamp(static_cast<float>(change_db), -kMostFall_db, 0.0F));
  }
  if (note.fall_db == 0 && std::ranges::min(note.gains_db) > -kLeastChange_db) {
    note.gains_db.clear();
  }
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
  const auto distance = [&](const Note& note) { return std::abs(note.pitch - pitch); };
  double nearest = std::numeric_limits<double>::infinity();
  for (const Note& note : notes_) nearest = std::min(nearest, distance(note));
  double sum = 0, weights = 0;
  for (const Note& note : notes_) {
    const double weight = std::min<double>(note.frames, kMostWeight_frames) *
                          std::exp((nearest - distance(note)) / kPitchScale_semitones);
    sum += weight * gain_of(note, age_frames);
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
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

void apply_decay(std::span<float> samples, std::span<const float> melody, const LateDecay& decay,
                 double share) {
  const int64_t frames = std::ssize(samples) / kHop;
  HUM_REQUIRE(frames > 0 && std::ssize(melody) % frames == 0,
              "apply_decay: {} samples and {} features", samples.size(), melody.size());
  const size_t features = melody.size() / static_cast<size_t>(frames);
  std::vector<double> gains_db;
  std::vector<int64_t> ages;
  for (int64_t t = 0; t < frames; ++t) {
    const auto row = melody.subspan(static_cast<size_t>(t) * features, features);
    ages.push_back(last_age_frames(row));
    gains_db.push_back(share * decay.gain_db(midi_pitch(row), ages.back()));
  }
  // Between the middles of frames the gain is linear in dB, but at an onset it jumps.
  const auto at = [](int64_t t) { return static_cast<size_t>(t); };
  const auto is_onset = [&](int64_t t) { return t == 0 || ages[at(t)] < ages[at(t - 1)]; };
  double end_db = gains_db[0];
  for (int64_t t = 0; t < frames; ++t) {
    const double before_db = end_db, here = gains_db[at(t)];
    const double start_db = is_onset(t) ? here : (gains_db[at(t - 1)] + here) / 2;
    end_db = t + 1 == frames || is_onset(t + 1) ? here : (here + gains_db[at(t + 1)]) / 2;
    for (int64_t i = 0; i < kHop; ++i) {
      const double place = static_cast<double>(i) / kHop;
      double gain = std::pow(10, (start_db + place * (end_db - start_db)) / 20);
      if (is_onset(t) && t > 0 && i < kRampSamples) {
        const double share_before = 1 - static_cast<double>(i) / kRampSamples;
        gain += share_before * (std::pow(10, before_db / 20) - gain);
      }
      samples[at(t * kHop + i)] *= static_cast<float>(gain);
    }
  }
}

}  // namespace hum::models::humming
