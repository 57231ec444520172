#include "data/synthesis/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/synthesis/pitch_curve.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

// The frames a note fills: [first, end).
struct FrameNote {
  int64_t first, end;
  double amplitude;
  int pitch;
  PitchCurve curve;
  const FrameNote* previous = nullptr;

  explicit FrameNote(const audio::Note& note)
      : first(frame_of(note.start_s)),
        end(std::max<int64_t>(first + 1, std::llround(note.end_s * kFramesPerSecond))),
        amplitude(note.amplitude),
        pitch(note.pitch),
        curve(note) {}
};

float count_value(int64_t frames, int longest = kCountFrames) {
  const double value = std::log1p(static_cast<double>(frames)) / std::log1p(longest);
  return static_cast<float>(std::clamp(value, 0.0, 1.0));
}

float long_count_value(int64_t frames) {
  return std::min(1.0F, static_cast<float>(frames) / kLongCountFrames);
}

double middle_of(int64_t frame) { return (static_cast<double>(frame) + 0.5) / kFramesPerSecond; }

// owner[f]: the note of frame f, or null. Notes must be in order of start.
std::vector<const FrameNote*> owners(const std::vector<FrameNote>& notes, int64_t frames) {
  std::vector<const FrameNote*> owner(frames, nullptr);
  for (const FrameNote& note : notes) {
    const int64_t end = std::min(note.end, frames);
    for (int64_t f = std::max<int64_t>(0, note.first); f < end; ++f) {
      if (owner[f] == nullptr || note.pitch >= owner[f]->pitch) owner[f] = &note;
    }
  }
  return owner;
}

// Notes must be in order of start.
void find_previous_notes(std::vector<FrameNote>& notes) {
  const FrameNote* latest = nullptr;  // the highest of those that started last
  for (auto from = notes.begin(); from != notes.end();) {
    const auto to = std::find_if(from, notes.end(),
                                 [&](const FrameNote& note) { return note.first != from->first; });
    std::for_each(from, to, [&](FrameNote& note) { note.previous = latest; });
    latest = &*std::max_element(
        from, to, [](const FrameNote& a, const FrameNote& b) { return a.pitch < b.pitch; });
    from = to;
  }
}

// One row of features.
struct Row {
  std::array<float, kAllMelodyFeatures> values{};
  float& operator[](MelodyFeature feature) { return values[static_cast<size_t>(feature)]; }

  void set_pitch(double pitch) {
    const double angle = 2 * std::numbers::pi * pitch / 12;
    (*this)[MelodyFeature::kPitch] = static_cast<float>((pitch - 64) / 32);
    (*this)[MelodyFeature::kPitchSin] = static_cast<float>(std::sin(angle));
    (*this)[MelodyFeature::kPitchCos] = static_cast<float>(std::cos(angle));
  }

  void fill_sounding(const FrameNote& note, int64_t frame) {
    set_pitch(note.curve.at(middle_of(frame)));
    (*this)[MelodyFeature::kSounding] = 1;
    (*this)[MelodyFeature::kOnset] = note.first == frame ? 1 : 0;
    (*this)[MelodyFeature::kSinceOnset] = count_value(frame - note.first);
    (*this)[MelodyFeature::kToEnd] = count_value(note.end - frame);
    (*this)[MelodyFeature::kLoudness] = static_cast<float>(note.amplitude);
    (*this)[MelodyFeature::kLongSinceOnset] = long_count_value(frame - note.first);
    set_previous(note.previous, frame);
  }

  // `last`: the previous note, or the first one that follows (`heard` false), or null.
  void fill_silent(const FrameNote* last, bool heard, int64_t frame) {
    (*this)[MelodyFeature::kSinceOnset] = heard ? count_value(frame - last->first) : 1;
    (*this)[MelodyFeature::kSinceEnd] = heard ? count_value(frame - last->end + 1) : 1;
    (*this)[MelodyFeature::kLoudness] = last == nullptr ? 0 : static_cast<float>(last->amplitude);
    (*this)[MelodyFeature::kLongSinceOnset] = heard ? long_count_value(frame - last->first) : 1;
    (*this)[MelodyFeature::kLongSinceEnd] = heard ? long_count_value(frame - last->end + 1) : 1;
    if (last == nullptr) {
      set_pitch(64);
    } else {
      set_pitch(last->curve.at(middle_of(heard ? last->end - 1 : last->first)));
    }
    set_previous(last == nullptr ? nullptr : last->previous, frame);
  }

  // After the frame's own pitch. `previous` may be null.
  void set_previous(const FrameNote* previous, int64_t frame) {
    if (previous == nullptr) {
      (*this)[MelodyFeature::kPreviousPitch] = (*this)[MelodyFeature::kPitch];
      (*this)[MelodyFeature::kSincePrevious] = 1;
      return;
    }
    const double pitch = previous->curve.at(middle_of(previous->end - 1));
    (*this)[MelodyFeature::kPreviousPitch] = static_cast<float>((pitch - 64) / 32);
    (*this)[MelodyFeature::kSincePrevious] =
        count_value(std::max<int64_t>(0, frame - previous->end + 1), kLongCountFrames);
  }
};

// The note that ended last before frame 0, or null.
const FrameNote* last_before_window(const std::vector<FrameNote>& notes) {
  const FrameNote* last = nullptr;
  for (const FrameNote& note : notes) {
    if (note.end <= 0 && (last == nullptr || note.end >= last->end)) last = &note;
  }
  return last;
}

}  // namespace

std::vector<float> melody_features(std::span<const audio::Note> notes, int64_t frames,
                                   int columns) {
  HUM_REQUIRE(columns > 0 && columns <= kAllMelodyFeatures, "melody_features: {} columns of {}",
              columns, kAllMelodyFeatures);
  std::vector<FrameNote> in_order(notes.begin(), notes.end());
  std::ranges::stable_sort(in_order, {}, [](const FrameNote& note) { return note.first; });
  find_previous_notes(in_order);
  const auto owner = owners(in_order, frames);
  std::vector<float> features(frames * columns);
  const FrameNote* last = last_before_window(in_order);
  bool heard = last != nullptr;
  if (!heard && !in_order.empty()) last = in_order.data();
  for (int64_t f = 0; f < frames; ++f) {
    Row row;
    if (owner[f] != nullptr) {
      row.fill_sounding(*owner[f], f);
      last = owner[f];
      heard = true;
    } else {
      row.fill_silent(last, heard, f);
    }
    std::copy_n(row.values.begin(), columns, features.begin() + f * columns);
  }
  return features;
}

}  // namespace hum::data
