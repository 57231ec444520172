#include "pipeline/octave.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kMinVoter_s = 0.1, kMinCertainty = 0.5;
constexpr double kEnough = 0.95;
constexpr int kSemitones = 12;
// The models play notes above F#7 badly.
constexpr int kHighestPlayed = 102;
// Nearest to the singer first, up before down.
constexpr int kOctaves[] = {0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8};

double length_s(const Note& note) { return note.end_s - note.start_s; }

std::vector<Note> voters(std::span<const Note> notes) {
  std::vector<Note> chosen;
  for (const Note& note : notes) {
    if (length_s(note) >= kMinVoter_s && audio::certainty(note) >= kMinCertainty) {
      chosen.push_back(note);
    }
  }
  return chosen.empty() ? std::vector<Note>(notes.begin(), notes.end()) : chosen;
}

// The share of the notes' time that lies in the range once they are moved.
double share_inside(std::span<const Note> notes, const PitchRange& range, int octave) {
  double inside_s = 0, total_s = 0;
  for (const Note& note : notes) {
    const int pitch = note.pitch + kSemitones * octave;
    total_s += length_s(note);
    if (pitch >= range.low && pitch <= range.high) inside_s += length_s(note);
  }
  return total_s > 0 ? inside_s / total_s : 0;
}

}  // namespace

std::optional<PitchRange> range_around(std::span<const Note> clip) {
  if (clip.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(voters(clip), {}, &Note::pitch);
  const int top = std::min(kHighestPlayed, high.pitch + kSemitones);
  return PitchRange{std::max(0, std::min(low.pitch - kSemitones, top - 2 * kSemitones)), top};
}

OctaveChoice choose_octave(std::span<const Note> notes, const PitchRange& range) {
  HUM_REQUIRE(range.low <= range.high, "choose_octave: empty range {}..{}", range.low, range.high);
  const auto voting = voters(notes);
  const double as_sung = share_inside(voting, range, 0);
  int best = 0;
  double best_share = as_sung;
  for (const int octave : kOctaves) {
    if (best_share >= kEnough) break;
    const double share = share_inside(voting, range, octave);
    if (share <= best_share) continue;
    best = octave;
    best_share = share;
  }
  std::string reason =
      fmt::format("{:.0f} % of the melody is in the instrument's range", 100 * best_share);
  reason += best == 0 ? " as sung" : fmt::format(", as sung {:.0f} %", 100 * as_sung);
  return {best, std::move(reason)};
}

}  // namespace hum::pipeline
