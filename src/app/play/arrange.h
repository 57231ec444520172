// Arranges a hummed melody for a small band: lead, bass, chords and drums.
#pragma once

#include <string>

#include "app/play/converter.h"
#include "app/play/outputs.h"
#include "pipeline/accompaniment.h"

namespace hum::app {

struct ArrangeOptions {
  std::string input, output;  // a recording; a folder
  ConversionOptions lead;
  SoundOptions sound;
  pipeline::Style style = pipeline::Style::kPop;
  int64_t beats_per_bar = 4;
  SoundFormat format = SoundFormat::kWav;

  ArrangeOptions() { lead.score.snap = "1"; }  // the lead must keep the band's time
};

// Writes a file for each part, mix.* and arrangement.mid. Returns {"output", "tempo_bpm",
// "first_beat", "key", "chords", "audio_seconds", "warnings", "seconds"}. Throws: kUsage naming the
// flag that is out of range; kBadData when no steady tempo is heard.
Json arrange(const ArrangeOptions& options);

// The same for a melody that was heard before, without its "output" checked: the folder exists and
// is new. `watch`: its laps are the report's "seconds".
Json arrange(const ArrangeOptions& options, Converter& converter, const Hearing& hearing,
             Stopwatch& watch);

void validate(const ArrangeOptions& options);

// The report in one line.
std::string arrangement_text(const Json& report);

}  // namespace hum::app
