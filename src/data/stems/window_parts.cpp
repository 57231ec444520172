#include <algorithm>
#include <array>
#include <set>

#include "data/stems/window_parts_impl.h"

namespace hum::data::internal {
namespace {

constexpr int kDraws = 3;

// On the rendering's clock. A note that began earlier begins with the rendering, without its bends.
audio::Note moved(audio::Note note, double origin_s) {
  note.start_s -= origin_s;
  note.end_s -= origin_s;
  if (note.start_s < 0) {
    note.start_s = 0;
    note.bends.clear();
  }
  return note;
}

size_t stems_within(const std::vector<WindowPart>& parts) {
  std::set<Stem> stems;
  for (const WindowPart& part : parts) {
    const bool sounds = std::ranges::any_of(
        part.notes, [](const audio::Note& note) { return note.start_s >= kLeadIn_s; });
    if (sounds) stems.insert(part.stem);
  }
  return stems.size();
}

}  // namespace

std::vector<WindowPart> window_parts(const audio::MidiSong& song,
                                     const std::vector<PartRoles>& roles, double start_s,
                                     double seconds) {
  const double origin_s = start_s - kLeadIn_s, end_s = start_s + seconds;
  std::vector<WindowPart> result;
  for (size_t p = 0; p < song.parts.size(); ++p) {
    std::array<std::vector<audio::Note>, kStems.size()> by_stem;
    for (const audio::Note& note : song.parts[p].notes) {
      if (note.end_s <= origin_s || note.start_s >= end_s) continue;
      const Stem stem = stem_at(roles[p], note.start_s);
      by_stem[static_cast<size_t>(stem)].push_back(moved(note, origin_s));
    }
    for (const Stem stem : kStems) {
      auto& notes = by_stem[static_cast<size_t>(stem)];
      if (!notes.empty()) result.push_back({p, stem, std::move(notes)});
    }
  }
  return result;
}

double draw_window(const audio::MidiSong& song, const std::vector<PartRoles>& roles, double seconds,
                   Rng& rng) {
  const auto bars = audio::bar_lines(song);
  std::vector<double> starts;
  for (const double bar_s : bars) {
    if (bar_s + seconds <= bars.back()) starts.push_back(bar_s);
  }
  if (starts.empty()) return 0;
  double best_s = 0;
  size_t most = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double start_s = starts[static_cast<size_t>(rng.integer(0, std::ssize(starts) - 1))];
    const size_t stems = stems_within(window_parts(song, roles, start_s, seconds));
    if (i > 0 && stems <= most) continue;
    best_s = start_s;
    most = stems;
  }
  return best_s;
}

}  // namespace hum::data::internal
