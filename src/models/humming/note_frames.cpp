#include "models/humming/note_frames.h"

#include "audio/dsp.h"
#include "base/error.h"
#include "models/humming/melody_columns.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kHop = 441;
constexpr double kRange_db = 80;

}  // namespace

std::vector<NoteFrames> notes_in(std::span<const float> melody, std::span<const uint8_t> is_used) {
  const size_t frames = is_used.size();
  HUM_REQUIRE(frames > 0 && melody.size() % frames == 0, "notes_in: {} features of {} frames",
              melody.size(), frames);
  const size_t features = melody.size() / frames;
  const auto row = [&](size_t t) { return melody.subspan(t * features, features); };
  const auto is_of_age = [&](size_t t, int64_t age) {
    return is_used[t] != 0 && is_sounding(row(t)) && age_frames(row(t)) == age;
  };
  std::vector<NoteFrames> notes;
  for (size_t t = 0; t < frames; ++t) {
    // The features give the frame that two notes share to the higher one: the lower begins at 1.
    const bool is_late = t > 0 && is_of_age(t, 1) && is_used[t - 1] != 0 && !is_of_age(t - 1, 0);
    if (!is_of_age(t, 0) && !is_late) continue;
    const size_t first = is_late ? t - 1 : t;
    double pitch = 0;
    size_t end = t;
    for (; end < frames && is_of_age(end, static_cast<int64_t>(end - first)); ++end) {
      pitch += midi_pitch(row(end));
    }
    notes.push_back({first, end - first, pitch / static_cast<double>(end - t)});
  }
  return notes;
}

std::vector<float> frame_levels(std::span<const float> samples) {
  audio::Matrix<float> power(std::ssize(samples) / kHop, 1);
  for (int64_t t = 0; t < power.rows; ++t) {
    for (const float x : samples.subspan(static_cast<size_t>(t * kHop), kHop)) {
      power(t, 0) += x * x / kHop;
    }
  }
  audio::power_to_db(power, kRange_db);
  return std::move(power.values);
}

}  // namespace hum::models::humming
