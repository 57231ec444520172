// The listeners that the hear bars compare: functions from sound to notes. And hum's pitch over
// time.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch_folder.h"
#include "bench/scale.h"
#include "eval/metrics/melody_track.h"
#include "eval/metrics/note_score.h"
#include "models/ear/ear_session.h"
#include "runtime/session.h"

namespace hum::bench::hear {

struct Heard {
  double start_s = 0, end_s = 0;
  double hz = 0;          // as sung
  int pitch = 60;         // as written: MIDI
  double confidence = 1;  // 1 if the listener has none
};
using Sound = std::vector<float>;  // mono, 22,050 Hz
using Notes = std::vector<Heard>;

// For scores by the sung pitch.
std::vector<eval::PitchedNote> pitched(const Notes& notes);

struct Listener {
  std::string name;
  // The notes of each sound. Several sounds in a call, because a peer is a program.
  std::function<std::vector<Notes>(std::span<const Sound> sounds)> listen;
};

inline constexpr const char *kEar = "ear", *kBasicPitch = "Basic Pitch", *kSwiftF0 = "swift-f0";

class Ears {
 public:
  // ear: models/ear. Basic Pitch: its notes as they are, their sung pitch the mean of the bends.
  // swift-f0: that package's segment_notes at its defaults, if installed.
  explicit Ears(const Scale& scale);

  const std::vector<Listener>& all() const { return listeners_; }
  // The ear, which hum hears with and the bars judge. It comes first.
  const Listener& ours() const { return listeners_.front(); }
  const models::ear::EarSession& ear() const { return ear_; }
  // The pitch that the ear hears, frame by frame: its f0, voiced from even odds on.
  eval::MelodyTrack track(const Sound& sound) const;

 private:
  runtime::Session session_;
  models::ear::EarSession ear_;
  std::vector<Listener> listeners_;
};

// Writes each sound as a wav for a program. Returns the paths.
std::vector<std::string> write_sounds(std::span<const Sound> sounds, const ScratchFolder& folder);

// The folder of the ear's weights that a bar uses.
std::filesystem::path ear_folder(const Scale& scale);

// The ear's notes with these options, from frames of levelled sound.
Notes decoded(const models::ear::Frames& frames, const models::ear::DecoderOptions& options = {});

}  // namespace hum::bench::hear
