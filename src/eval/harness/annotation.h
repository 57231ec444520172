// What people heard in recordings, in CSV files as vocadito has them: notes, one file per person,
// and pitch curves.
#pragma once

#include <filesystem>
#include <vector>

#include "eval/metrics/melody_track.h"
#include "eval/metrics/note_score.h"

namespace hum::eval {

// Reads rows of onset in s, pitch in Hz, duration in s, without a header.
// Throws: kNoInput when missing; kBadData, with the line, for other rows, negative durations, and
// pitches that are not above 0 Hz; kBadData without notes.
std::vector<PitchedNote> read_annotation(const std::filesystem::path& path);

// Reads rows of time in s, pitch in Hz (0 or less: unvoiced), without a header.
// Throws: kNoInput when missing; kBadData, with the line, for other rows and times that do not
// rise; kBadData without rows.
MelodyTrack read_pitch_curve(const std::filesystem::path& path);

// Whether a file is an annotation of notes, and not notes of hum: a .csv whose first row has three
// columns.
bool is_annotation(const std::filesystem::path& path);

struct AnnotatedRecording {
  std::filesystem::path sound;
  std::vector<std::filesystem::path> annotations;  // at least one, by name
};

// Every NAME.wav of a folder with its NAME*.csv, by name. A letter or digit after NAME belongs to
// another name: `take_1.wav` has `take_1_notes.csv`, but not `take_10.csv`. Beside `take.wav`
// too, because the longest name counts. Files that end in _f0.csv hold pitch curves, not notes.
// Throws: kNoInput if the folder is missing or has no annotated recording.
std::vector<AnnotatedRecording> annotated_recordings(const std::filesystem::path& folder);

}  // namespace hum::eval
