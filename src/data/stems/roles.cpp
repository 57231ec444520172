#include "data/stems/roles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "data/stems/part_kind_impl.h"

namespace hum::data {
namespace {

using audio::MidiPart;
using audio::Note;
using internal::PartKind;
using internal::starting_in;

constexpr size_t kWindowBars = 4;
constexpr size_t kFewestNotes = 4, kFewestPitches = 2;
// Far above any pitch and level, so that more windows with a lead are better than a higher one.
constexpr double kPresence = 1000;
constexpr double kTogether_s = 0.06;
constexpr double kDoubledShare = 0.8;

struct Window {
  double start_s, end_s;  // of onsets
};

// Windows of four bars; the last one has up to seven.
std::vector<Window> windows_of(std::span<const double> bars) {
  std::vector<Window> windows;
  for (size_t i = 0; i + 1 < bars.size(); i += kWindowBars) {
    const bool is_whole = i + kWindowBars < bars.size();
    const double end_s = (is_whole ? bars[i + kWindowBars] : bars.back()) - kEarlyOnset_s;
    if (is_whole || windows.empty()) {
      windows.push_back({bars[i] - kEarlyOnset_s, end_s});
    } else {
      windows.back().end_s = end_s;
    }
  }
  return windows;
}

// 0 if the line has no melody there.
double score_of(const MidiPart& line, const Window& window) {
  const auto notes = starting_in(line.notes, window.start_s, window.end_s);
  std::set<int> pitches;
  double pitch = 0, length_s = 0, velocity = 0;
  for (const Note& note : notes) {
    pitches.insert(note.pitch);
    pitch += note.pitch * (note.end_s - note.start_s);
    length_s += note.end_s - note.start_s;
    velocity += note.amplitude;
  }
  if (notes.size() < kFewestNotes || pitches.size() < kFewestPitches) return 0;
  velocity /= static_cast<double>(notes.size());
  const double level = velocity * velocity * line.gain;  // as synthesizers play velocities
  return kPresence + pitch / length_s + 20 * std::log10(std::max(level, 1e-6));
}

// A time in which one line is lead, or none.
struct Reign {
  size_t from = 0, to = 0;  // windows
  std::optional<size_t> line;
  double score = 0;
};

Reign best_reign(size_t from, size_t to, const std::vector<std::vector<double>>& scores) {
  Reign best{from, to, std::nullopt, 0};
  for (size_t line = 0; line < scores.size(); ++line) {
    double sum = 0;
    for (size_t w = from; w < to; ++w) sum += scores[line][w];
    if (sum > best.score) best = {from, to, line, sum};
  }
  return best;
}

// The reigns of two windows or more with the highest sum of scores. Any such reign is a sequence of
// reigns of two or three windows, so dynamic programming over these two lengths finds it.
// Shapes: scores [lines][windows].
std::vector<Reign> best_reigns(const std::vector<std::vector<double>>& scores, size_t windows) {
  if (windows < 2) return {best_reign(0, windows, scores)};
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  std::vector<double> total(windows + 1, kImpossible);  // of the windows before
  std::vector<Reign> last(windows + 1);
  total[0] = 0;
  for (size_t to = 2; to <= windows; ++to) {
    for (const size_t length : {2, 3}) {
      if (length > to || total[to - length] == kImpossible) continue;
      const Reign reign = best_reign(to - length, to, scores);
      if (total[to - length] + reign.score <= total[to]) continue;
      total[to] = total[to - length] + reign.score;
      last[to] = reign;
    }
  }
  std::vector<Reign> reigns;
  for (size_t to = windows; to > 0; to = reigns.back().from) reigns.push_back(last[to]);
  std::ranges::reverse(reigns);
  return reigns;
}

// Whether nearly all notes of `line` in the window begin with one of `lead` of the same pitch or an
// octave away.
bool doubles(const MidiPart& line, const MidiPart& lead, const Window& window) {
  const auto notes = starting_in(line.notes, window.start_s, window.end_s);
  const auto is_doubled = [&](const Note& note) {
    const auto together =
        starting_in(lead.notes, note.start_s - kTogether_s, note.start_s + kTogether_s);
    return std::ranges::any_of(together, [&](const Note& other) {
      const int distance = std::abs(other.pitch - note.pitch);
      return distance == 0 || distance == 12;
    });
  };
  const auto count = static_cast<double>(std::ranges::count_if(notes, is_doubled));
  return count > 0 && count >= kDoubledShare * static_cast<double>(notes.size());
}

void append(PartRoles& roles, double start_s, Stem stem) {
  if (roles.empty()) start_s = 0;
  if (roles.empty() || roles.back().stem != stem) roles.push_back({start_s, stem});
}

Stem stem_of(PartKind kind) {
  switch (kind) {
    case PartKind::kDrums:
      return Stem::kDrums;
    case PartKind::kBass:
      return Stem::kBass;
    case PartKind::kChordal:
      return Stem::kChordal;
    case PartKind::kOther:
    case PartKind::kLine:
      return Stem::kOther;
  }
  return Stem::kOther;
}

// `lines`: the parts of the song that are lines, whose roles are filled in.
void assign_leads(const audio::MidiSong& song, const std::vector<size_t>& lines,
                  std::span<const double> bars, const RoleOptions& options,
                  std::vector<PartRoles>& roles) {
  const std::vector<Window> windows = windows_of(bars);
  std::vector<std::vector<double>> scores(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const Window& window : windows) {
      scores[i].push_back(score_of(song.parts[lines[i]], window));
    }
  }
  for (const Reign& reign : best_reigns(scores, windows.size())) {
    const Window window{windows[reign.from].start_s, windows[reign.to - 1].end_s};
    for (size_t i = 0; i < lines.size(); ++i) {
      const MidiPart& part = song.parts[lines[i]];
      Stem stem = Stem::kOther;
      if (reign.line == i) {
        stem = options.lead_is_sung ? Stem::kVocals : Stem::kLead;
      } else if (reign.line && doubles(part, song.parts[lines[*reign.line]], window)) {
        stem = Stem::kLead;
      }
      append(roles[lines[i]], window.start_s, stem);
    }
  }
}

}  // namespace

Stem stem_at(const PartRoles& roles, double time_s) {
  const auto next = std::ranges::upper_bound(roles, time_s, {}, &RoleSpan::start_s);
  return next == roles.begin() ? roles.front().stem : std::prev(next)->stem;
}

std::vector<PartRoles> roles_of(const audio::MidiSong& song, const RoleOptions& options) {
  const std::vector<double> bars = audio::bar_lines(song);
  std::vector<PartRoles> roles(song.parts.size());
  std::vector<size_t> lines;
  for (size_t i = 0; i < song.parts.size(); ++i) {
    HUM_REQUIRE(!song.parts[i].notes.empty(), "roles_of: part {} has no notes", i);
    const PartKind kind = internal::kind_of(song.parts[i], song, bars, options.names);
    if (kind == PartKind::kLine) {
      lines.push_back(i);
    } else {
      append(roles[i], 0, stem_of(kind));
    }
  }
  if (!lines.empty()) assign_leads(song, lines, bars, options, roles);
  return roles;
}

}  // namespace hum::data
