// Parses a Standard MIDI File into a flat list of events in ticks: the first half of parse_midi.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hum::audio {

enum class SmfKind : uint8_t {
  kNoteOff,
  kNoteOn,
  kControl,
  kProgram,
  kWheel,
  kTempo,
  kKey,
  kMeter,
  kName,
  kEnd
};

struct SmfEvent {
  int64_t tick = 0;
  SmfKind kind = SmfKind::kEnd;
  int track = 0;
  int channel = 0;
  int data1 = 0, data2 = 0;  // kTempo: data1 = microseconds per beat; kWheel: data1 = -8192..8191
                             // kKey: data1 = sharps, data2 = 1 for minor
                             // kMeter: data1 = beats per bar, data2 = their unit
  std::string_view text;     // kName; points into the file's bytes
};

struct SmfFile {
  int division = 0;              // as in the header
  std::vector<SmfEvent> events;  // track by track; each ends with kEnd
};

// Throws: kBadData if malformed.
SmfFile parse_smf(std::string_view bytes);

[[noreturn]] void fail_midi(const std::string& what);

}  // namespace hum::audio
