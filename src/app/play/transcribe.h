// Finds a recording's notes, without an instrument, for `hum notes`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audio/io.h"
#include "base/fields.h"
#include "base/json_fwd.h"
#include "models/basic_pitch/notes.h"
#include "pipeline/hum_melody.h"
#include "pipeline/score.h"

namespace hum::app {

enum class NoteFormat { kMid, kCsv, kJson };
inline EnumNames<NoteFormat> enum_names(NoteFormat) {
  static constexpr std::pair<NoteFormat, std::string_view> kNames[] = {
      {NoteFormat::kMid, "mid"}, {NoteFormat::kCsv, "csv"}, {NoteFormat::kJson, "json"}};
  return kNames;
}

struct TranscribeOptions {
  std::string input;                     // "-": stdin
  std::string output;                    // .mid, .csv or .json; "-": stdout; empty: none
  NoteFormat format = NoteFormat::kMid;  // on stdout
  models::basic_pitch::NoteOptions notes;
  pipeline::ScoreOptions score;
  bool voice = false;   // the melody as generation reads it from a voice
  std::string weights;  // folder, for voice
  double max_seconds = audio::kDefaultMaxSeconds;
};

struct Transcribed {
  pipeline::Score score;
  double seconds = 0;                        // of the recording
  std::string heard_by;                      // HeardVoice::heard_by
  std::optional<pipeline::HumMelody> voice;  // before the score; with options.voice
  std::vector<std::string> warnings;
};

// Throws: kUsage naming the option that is out of range; kBadData when no notes are found;
// kFailure after a stop signal; what decode::read_recording, require_output and write_bytes
// throw.
Transcribed transcribe(const TranscribeOptions& options);

// The notes, and what is known about them; a .json note file too.
Json transcription_report(const TranscribeOptions& options, const Transcribed& transcribed);
// The notes, one per line.
std::string notes_text(const pipeline::Score& score);
// Number of notes, duration, tempo and key in one line.
std::string transcription_summary(const std::string& output, const Transcribed& transcribed);

}  // namespace hum::app
