// What a part is over the whole song: the first half of roles_of. roles.h states the rules.
#pragma once

#include <span>

#include "audio/midi.h"
#include "data/stems/roles.h"

namespace hum::data::internal {

enum class PartKind { kDrums, kBass, kChordal, kOther, kLine };

// `bars`: the song's bar_lines.
PartKind kind_of(const audio::MidiPart& part, const audio::MidiSong& song,
                 std::span<const double> bars, TrackNames names);

// The notes that start in [from_s, to_s); `notes` are in order of their start.
std::span<const audio::Note> starting_in(std::span<const audio::Note> notes, double from_s,
                                         double to_s);

}  // namespace hum::data::internal
