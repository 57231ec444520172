#include "pipeline/sung_notes/voice_bends.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "pipeline/sung_notes/note_pieces.h"

namespace hum::pipeline {
namespace {

// Half a YIN window: nearer to a note's edge, the window also covers the neighbour.
constexpr double kEdge_s = 0.023;
constexpr double kSmooth_s = 0.015;  // to both sides
constexpr double kFarSemitones = 2.5;
constexpr double kHold = 0.75, kStraight = 0.5;  // of a step
// A glide into a note of up to this length is only the transition from the last pitch.
constexpr double kArrival_s = 0.120;

// Mean of the voiced frames around a time, in bends; the previous value if none is voiced.
double bend_at(const VoiceTrack& track, double at_s, int pitch, double before) {
  double sum = 0;
  int count = 0;
  const int64_t last = track.pitch.index(at_s + kSmooth_s);
  for (int64_t i = track.pitch.index(at_s - kSmooth_s); i <= last; ++i) {
    const double away = track.pitch[i] - pitch;
    if (!track.is_voiced(i) || std::fabs(away) > kFarSemitones) continue;
    sum += away;
    ++count;
  }
  return count > 0 ? kBendsPerSemitone * sum / count : before;
}

std::vector<int> bends_of(const audio::Note& note, const VoiceTrack& track) {
  const double edge_s = std::min(kEdge_s, (note.end_s - note.start_s) / 2);
  std::vector<int> bends;
  double before = 0;
  int step = 0;
  for (const double at_s : bend_times(note)) {
    before = bend_at(track, std::clamp(at_s, note.start_s + edge_s, note.end_s - edge_s),
                     note.pitch, before);
    if (std::fabs(before - step) > kHold || std::fabs(before) < kStraight) {
      step = static_cast<int>(std::lround(before));
    }
    bends.push_back(step);
  }
  return bends;
}

// Removes the glide into the note.
void begin_on_pitch(std::vector<int>& bends) {
  const auto longest = static_cast<std::ptrdiff_t>(kArrival_s / kBendStep_s);
  const auto end = bends.begin() + std::min(longest, std::ssize(bends) - 1);
  const bool glides = std::is_sorted(bends.begin(), end + 1) ||
                      std::is_sorted(bends.begin(), end + 1, std::greater<>());
  if (glides) std::fill(bends.begin(), end, *end);
}

}  // namespace

std::vector<audio::Note> with_voice_bends(std::vector<audio::Note> notes, const VoiceTrack& track) {
  for (audio::Note& note : notes) {
    const auto pitch = track.median_pitch(note.start_s, note.end_s);
    if (pitch && std::fabs(*pitch - note.pitch) < 1) {
      note.bends = bends_of(note, track);
      begin_on_pitch(note.bends);
    }
  }
  return notes;
}

}  // namespace hum::pipeline
