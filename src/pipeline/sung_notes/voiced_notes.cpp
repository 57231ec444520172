#include "pipeline/sung_notes/voiced_notes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "audio/bends.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kFarSemitones = 2.5;
constexpr double kShortest_s = 0.100;
// The share of frames that must lie within this many semitones of the median.
constexpr double kSteadyShare = 0.75, kSteadySemitones = 0.7;
// More than 20 dB below the loud level, a voice fades or breathes.
constexpr double kQuiet = 0.1;
// In semitones per frame: a frame costs its distance from the pitch, at most kMaxDistance.
constexpr double kMaxDistance = 1.5, kChangeCost = 4;

// A range of pitch frames, without the last one.
struct Run {
  int64_t first, end;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> voiced_pitches(const VoiceTrack& track, Run run) {
  std::vector<double> pitches;
  for (int64_t i = run.first; i < run.end; ++i) {
    if (track.is_voiced(i)) pitches.push_back(track.pitch[i]);
  }
  return pitches;
}

bool is_steady(const std::vector<double>& pitches, double center) {
  const auto near = std::ranges::count_if(
      pitches, [&](double pitch) { return std::fabs(pitch - center) < kSteadySemitones; });
  return static_cast<double>(near) >= kSteadyShare * static_cast<double>(pitches.size());
}

// Voiced and loud frames that no note covers.
std::vector<Run> uncovered(const std::vector<Note>& notes, const VoiceTrack& track) {
  std::vector<Run> runs;
  auto note = notes.begin();
  for (int64_t i = 0; i < track.pitch.size(); ++i) {
    const double at_s = track.pitch.time(i);
    while (note != notes.end() && note->end_s <= at_s) ++note;
    const bool is_covered = note != notes.end() && note->start_s <= at_s;
    const bool is_loud = track.level[track.level.index(at_s)] > kQuiet * track.loud;
    if (is_covered || !is_loud || !track.is_voiced(i)) continue;
    if (runs.empty() || runs.back().end != i) runs.push_back({i, i});
    ++runs.back().end;
  }
  return runs;
}

// The cheapest sequence of semitones, one per frame, by the Viterbi algorithm.
std::vector<int> semitones(const VoiceTrack& track, Run run) {
  const auto values =
      std::span(track.pitch.values)
          .subspan(static_cast<size_t>(run.first), static_cast<size_t>(run.end - run.first));
  const int low = static_cast<int>(std::floor(std::ranges::min(values)));
  const auto states = static_cast<size_t>(std::ceil(std::ranges::max(values)) - low + 1);
  std::vector<double> cost(states, 0);
  std::vector<std::vector<size_t>> came_from;
  for (const double value : values) {
    const auto best = static_cast<size_t>(std::ranges::min_element(cost) - cost.begin());
    const double changed = cost[best] + kChangeCost;
    came_from.emplace_back(states);
    for (size_t s = 0; s < states; ++s) {
      came_from.back()[s] = changed < cost[s] ? best : s;
      cost[s] = std::min(cost[s], changed) +
                std::min(std::fabs(value - low - static_cast<double>(s)), kMaxDistance);
    }
  }
  std::vector<int> path(values.size());
  auto at = static_cast<size_t>(std::ranges::min_element(cost) - cost.begin());
  for (size_t i = path.size(); i-- > 0;) {
    path[i] = low + static_cast<int>(at);
    at = came_from[i][at];
  }
  return path;
}

Note note_of(const VoiceTrack& track, Run run, int pitch) {
  Note note{.start_s = track.pitch.time(run.first),
            .end_s = track.pitch.time(run.end - 1),
            .pitch = pitch};
  double aperiodicity = 0;
  for (int64_t i = run.first; i < run.end; ++i) {
    aperiodicity += track.aperiodicity[i] / static_cast<double>(run.end - run.first);
    // Bends come every 256 samples, twice as far apart as frames.
    if ((i - run.first) % 2 != 0) continue;
    const double semitones = std::clamp(track.pitch[i] - pitch, -2.0, 2.0);
    note.bends.push_back(static_cast<int>(std::lround(audio::kBendsPerSemitone * semitones)));
  }
  note.amplitude = std::clamp(1 - aperiodicity, 0.0, 1.0);
  return note;
}

void add_notes(const VoiceTrack& track, Run run, std::vector<Note>& notes) {
  const auto path = semitones(track, run);
  for (int64_t first = run.first; first < run.end;) {
    const int pitch = path[static_cast<size_t>(first - run.first)];
    int64_t end = first;
    while (end < run.end && path[static_cast<size_t>(end - run.first)] == pitch) ++end;
    const Run one{first, end};
    const double length_s = track.pitch.step_s * static_cast<double>(end - first);
    if (length_s >= kShortest_s && pitch >= 0 && pitch <= 127 &&
        is_steady(voiced_pitches(track, one), pitch)) {
      notes.push_back(note_of(track, one, pitch));
    }
    first = end;
  }
}

}  // namespace

std::vector<Note> at_voice(std::vector<Note> notes, const VoiceTrack& track) {
  for (Note& note : notes) {
    if (!track.median_pitch(note.start_s, note.end_s)) continue;
    const auto pitches =
        voiced_pitches(track, {track.pitch.index(note.start_s), track.pitch.index(note.end_s) + 1});
    const double sung = median(pitches);
    if (std::fabs(sung - note.pitch) > kFarSemitones && is_steady(pitches, sung)) {
      note.pitch = static_cast<int>(std::lround(sung));
    }
  }
  return notes;
}

std::vector<Note> with_voiced(const std::vector<Note>& notes, const VoiceTrack& track) {
  std::vector<Note> all = notes;
  for (const Run run : uncovered(notes, track)) add_notes(track, run, all);
  std::ranges::stable_sort(all, {}, &Note::start_s);
  return all;
}

}  // namespace hum::pipeline
