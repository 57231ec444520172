// A hummed melody on an instrument, from files to files: what `hum generate` does.
//
// This folder, from the outside in; each file calls those below it:
//   convert             recordings to files, or one recording to a stream
//   arrange             one recording to a band's stems; the converter plays the lead
//   batch_conversion    several recordings, whose windows share batches
//   converter           one recording: listen() hears its melody, play() makes sound of notes
//   synthesizer         the released models: a timbre reference and notes to sound
// Beside them: outputs (where files go), wav_stream, conversion_report (what is printed), and two
// that need no instrument: transcribe (a recording to notes), codec_files (sound to tokens and
// back).
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "app/play/batch_conversion.h"

namespace hum::app {

struct ConvertOptions {
  std::vector<std::string> inputs;  // recordings, or folders of them
  OutputOptions outputs;
  ConversionOptions conversion;
  DeliveryOptions delivery;
};

// One recording that was converted, or could not be.
struct Converted {
  Json report;        // conversion_report's; {"input", "error", "code"} where there is a fault
  std::string fault;  // the error and its hint; empty: none
};

struct ConvertSummary {
  size_t recordings = 0, faults = 0;
  int exit_code = 0;  // the first fault's
};

// Calls `done` for every recording, in their order. The error of an only recording is thrown; that
// of one of several is handed to `done`, and the others are converted. Throws before any work:
// kUsage naming the flag that is out of range, what plan_outputs throws.
ConvertSummary convert(const ConvertOptions& options,
                       const std::function<void(const Converted&)>& done);

struct StreamTimes {
  double first_sound_after_melody_s, first_sound_s, sound_s, total_s;
};

// Writes a wav of the only recording to `file` while it is made. Throws: kUsage for options that a
// stream cannot have; kCannotCreate when its reader has gone.
StreamTimes convert_to_stream(const ConvertOptions& options, std::FILE* file);

}  // namespace hum::app
