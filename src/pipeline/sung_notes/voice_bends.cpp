#include "pipeline/sung_notes/voice_bends.h"

#include <algorithm>
#include <cmath>

#include "audio/bends.h"

namespace hum::pipeline {
namespace {

// Half a YIN window: nearer to a note's edge, the window also covers the neighbour.
constexpr double kEdge_s = 0.023;
constexpr double kSmooth_s = 0.015;  // to both sides
constexpr double kFarSemitones = 2.5;

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
  return count > 0 ? audio::kBendsPerSemitone * sum / count : before;
}

std::vector<int> bends_of(const audio::Note& note, const VoiceTrack& track) {
  const double edge_s = std::min(kEdge_s, (note.end_s - note.start_s) / 2);
  std::vector<double> sung;
  double before = 0;
  for (const double at_s : audio::bend_times(note)) {
    before = bend_at(track, std::clamp(at_s, note.start_s + edge_s, note.end_s - edge_s),
                     note.pitch, before);
    sung.push_back(before);
  }
  return audio::sung_bends(sung);
}

}  // namespace

std::vector<audio::Note> with_voice_bends(std::vector<audio::Note> notes, const VoiceTrack& track) {
  for (audio::Note& note : notes) {
    const auto pitch = track.median_pitch(note.start_s, note.end_s);
    if (pitch && std::fabs(*pitch - note.pitch) < 1) {
      note.bends = bends_of(note, track);
    }
  }
  return notes;
}

}  // namespace hum::pipeline
