#include "app/play/joined_clips.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"

namespace hum::app {
namespace {

using models::codec::TokenFile;

void append(TokenFile& all, const TokenFile& sound) {
  const auto time_s = [](int64_t frame) {
    return static_cast<double>(frame) / data::kFramesPerSecond;
  };
  const double from_s = time_s(all.frames()), to_s = time_s(all.frames() + sound.frames());
  for (audio::Note& note : data::shifted(sound.notes, from_s)) {
    note.end_s = std::min(note.end_s, to_s);
    if (note.start_s < note.end_s) all.notes.push_back(std::move(note));
  }
  all.codes.insert(all.codes.end(), sound.codes.begin(), sound.codes.end());
}

// Adds frames first..last-1 to those that condition the models. A note that is longer keeps its age
// and its bends there.
void read(JoinedClips& joined, const TokenFile& sound, int64_t first, int64_t last) {
  joined.read_codes.insert(joined.read_codes.end(), sound.codes.begin() + first * sound.books,
                           sound.codes.begin() + last * sound.books);
  constexpr int kWidth = data::kAllMelodyFeatures;
  const auto rows = data::melody_features(sound.notes, last, kWidth);
  joined.read_melody.insert(joined.read_melody.end(), rows.begin() + first * kWidth, rows.end());
}

}  // namespace

JoinedClips join_clips(std::vector<TimbreClip> clips, models::codec::CodecSession& codec) {
  const int64_t books = codec.config().sound_books();
  JoinedClips joined{.all = {.books = books}};
  bool has_notes = true;
  const bool all_unheard = std::ranges::all_of(clips, &TimbreClip::is_unheard);
  for (TimbreClip& clip : clips) {
    data::normalise_level(clip.samples);
    const TokenFile sound{.codes = codec.encode_sound(clip.samples),
                          .books = books,
                          .notes = clip.notes.value_or(std::vector<audio::Note>())};
    has_notes = has_notes && clip.notes.has_value();
    const auto frame_at = [&](double time_s) {
      return std::min<int64_t>(std::llround(time_s * data::kFramesPerSecond), sound.frames());
    };
    if (all_unheard || !clip.is_unheard()) {
      append(joined.all, sound);
      joined.sound.insert(joined.sound.end(), clip.samples.begin(), clip.samples.end());
      joined.sound.resize(static_cast<size_t>(joined.all.frames() * data::kFrameSamples));
    }
    read(joined, sound, frame_at(clip.read_from_s), frame_at(clip.read_to_s));
  }
  if (!has_notes) joined.read_melody.clear();
  return joined;
}

}  // namespace hum::app
