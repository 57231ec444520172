// Plays hummed melodies on an instrument, from files to files, for `hum generate`.
//
// The files of this folder, from the outside in; each calls those below it:
//   convert             converts recordings to files, or one recording to a stream
//   arrange             makes a band's stems from one recording; the converter plays the lead
//   batch_conversion    converts several recordings, whose windows share batches
//   converter           one recording: listen() finds its melody, play() turns notes into sound
//   synthesizer         runs the released models: from a timbre reference and notes to sound
//   references          presets' references, and the part of a recording that is one
// Others: outputs (names of the files), wav_stream, conversion_report (the printed report), and two
// that need no instrument: transcribe (a recording to notes) and codec_files (sound to tokens and
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

// The result of one recording: converted, or failed.
struct Converted {
  Json report;        // conversion_report's; after an error {"input", "error", "code"}
  std::string fault;  // the error and its hint; empty: none
};

struct ConvertSummary {
  size_t recordings = 0, faults = 0;
  int exit_code = 0;  // that of the first error
};

// Calls `done` for every recording, in order. With a single recording, throws its error; with
// several, passes each error to `done` and converts the others. Throws before any work: kUsage
// naming the flag that is out of range, what plan_outputs throws.
ConvertSummary convert(const ConvertOptions& options,
                       const std::function<void(const Converted&)>& done);

struct StreamTimes {
  double first_sound_after_melody_s, first_sound_s, sound_s, total_s;
};

// Writes a wav of the only recording to `file` as it is generated. Throws: kUsage for options that
// a stream cannot have, and for a terminal; kCannotCreate when the reader closes the pipe or the
// disk is full.
StreamTimes convert_to_stream(const ConvertOptions& options, std::FILE* file);

}  // namespace hum::app
