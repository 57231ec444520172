// A melody as a list of notes, and its files: .json, .csv (basic-pitch's columns) and .mid.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hum::audio {

struct Note {
  double start_s = 0;
  double end_s = 0;
  int pitch = 60;          // MIDI number, 0..127
  double amplitude = 0.8;  // 0..1: loudness, or the certainty of a transcriber without confidences
  // Deviation from `pitch` in thirds of a semitone, spread evenly over [start_s, end_s], both ends
  // included: about one per 256 samples at 22,050 Hz. Empty: no bend.
  std::vector<int> bends;
  // As sung: the median of the steady part. It moves with the note by octaves and semitones, but
  // not into a key or tuning. 0: unknown.
  double hz = 0;
  double confidence = 0;  // probability that the note is right, 0..1; 0: unknown

  bool operator==(const Note&) const = default;
};

// MIDI pitch 69 is 440 Hz.
double midi_to_hz(double pitch);
double hz_to_midi(double hz);

// "A4" is 440 Hz, "C#4", "C-1" is 0. Always with sharps; pipeline/key.h spells pitches in a key.
std::string note_name(int pitch);

// The distance of the sung pitch from `pitch` at A = 440 Hz. Needs `hz`.
double cents_of(const Note& note);

// How sure a transcriber is of a note: its confidence, or its amplitude if it has none.
double certainty(const Note& note);

// Moves `pitch` and the sung pitch.
void transpose(Note& note, int semitones);

// The sounding MIDI pitch at `time_s`: `pitch` plus the interpolated bends, held constant outside
// the note.
double pitch_at(const Note& note, double time_s);

struct KeySignature {
  int sharps = 0;      // -7..7; below 0: flats
  bool minor = false;  // named after its minor key

  bool operator==(const KeySignature&) const = default;
};

struct NoteFileOptions {
  double tempo_bpm = 120;  // .mid only
  // .mid only: the time of one beat. The beats before it are written slightly faster or slower, so
  // that bars in other programs align with the melody's. 0: a beat falls on time 0.
  double first_beat_s = 0;
  bool multiple_pitch_bends =
      false;        // .mid only: overlapping notes keep their bends, one channel per pitch
  int program = 4;  // .mid only: General MIDI, 0-based; 4 is Electric Piano 1
  std::optional<KeySignature> key = {};  // .mid only
};

// Reads notes in order of (start, end, pitch). The extension selects the format: .json, .csv, .mid,
// .midi. Throws: kNoInput if missing, kBadData if malformed, kUsage on other extensions.
std::vector<Note> read_notes(const std::filesystem::path& path);

// Writes a temporary file, then renames it. Throws: kCannotCreate if it cannot be written, kUsage
// on other extensions.
void write_notes(const std::filesystem::path& path, std::span<const Note> notes,
                 const NoteFileOptions& options = {});

}  // namespace hum::audio
