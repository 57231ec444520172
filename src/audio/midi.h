// Writes Standard MIDI Files as basic-pitch does, and reads those of other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/notes.h"

namespace hum::audio {

constexpr int kDrumChannel = 9;

// The notes of one program on one channel of one track.
struct MidiPart {
  int track = 0;
  int channel = 0;  // 0..15
  int program = 0;  // General MIDI, 0-based
  std::string name;
  std::vector<Note> notes;
  // Amplitude by the channel's volume and expression (controllers 7 and 11, each squared): the mean
  // over the notes' starts. format_midi_song does not write it.
  double gain = 1;
};

struct MidiTempo {
  double start_s = 0;
  double tempo_bpm = 120;
};

struct MidiMeter {
  double start_s = 0;
  int beats = 4;  // per bar, each 1 / unit of a whole note
  int unit = 4;
};

struct MidiSong {
  int ticks_per_beat = 220;                       // 0 for files in SMPTE time
  std::vector<MidiTempo> tempos = {MidiTempo{}};  // the first at 0
  std::vector<MidiMeter> meters = {MidiMeter{}};  // likewise
  std::optional<KeySignature> key;                // the first
  std::vector<MidiPart> parts;
};

// A type 1 file at 220 ticks per beat: a tempo track, then one track for the notes (or with
// multiple_pitch_bends one per pitch, cycling through the melodic channels). Bends are steps of
// 4096/3 in a range of 2 semitones, clipped. Without multiple_pitch_bends, overlapping notes lose
// their bends. Unlike in basic-pitch, a note without bends after a bent one stays in tune: the
// wheel returns to zero at its start.
// Source: basic-pitch note_creation.py, pretty_midi 0.2.11 write().
std::string format_midi(std::span<const Note> notes, const NoteFileOptions& options = {});

// Writes one track per part, with the part's channel, program and name; tempo and first beat from
// `options`. Overlapping notes of a part lose their bends.
std::string format_midi_song(std::span<const MidiPart> parts, const NoteFileOptions& options = {});

// Reads types 0 and 1: tempo map, meters, running status, note on and off, program, volume,
// expression, pitch wheel and its range (RPN 0). A note-off ends the oldest open note of its pitch;
// notes left open end with the file; zero-length notes are dropped. The wheel is sampled to
// Note::bends; amplitude is velocity / 127. Throws: kBadData when malformed.
MidiSong parse_midi(std::string_view bytes);

// The times of the bar lines: the start of each bar, beginning at 0, and the end of the last one,
// in which the last note ends. A new meter starts a new bar. Empty without notes. Files in SMPTE
// time have bars of 2 s.
std::vector<double> bar_lines(const MidiSong& song);

// All notes except drums, in order of (start, end, pitch).
std::vector<Note> melodic_notes(const MidiSong& song);

// Overlapping notes lose their bends; sorts by (start, end, pitch).
std::vector<Note> drop_overlapping_bends(std::span<const Note> notes);

}  // namespace hum::audio
