// Finds a recording's notes, without an instrument, for `hum notes`.
#pragma once

#include <string>

#include "audio/io.h"
#include "models/basic_pitch/notes.h"
#include "pipeline/score.h"

namespace hum::app {

struct TranscribeOptions {
  std::string input, output;  // output: .mid, .csv or .json; empty: none
  models::basic_pitch::NoteOptions notes;
  pipeline::ScoreOptions score;
  bool clean_up = false;  // the melody as generation reads it from a voice
  double max_seconds = audio::kDefaultMaxSeconds;
};

struct Transcribed {
  pipeline::Score score;
  double seconds;  // of the recording
};

// Throws: kUsage naming the option that is out of range; kBadData when no notes are found; what
// pipeline::read_recording and require_output throw.
Transcribed transcribe(const TranscribeOptions& options);

// The notes, one per line.
std::string notes_text(const pipeline::Score& score);
// Number of notes, duration, tempo and key in one line.
std::string transcription_summary(const std::string& output, const Transcribed& transcribed);

}  // namespace hum::app
