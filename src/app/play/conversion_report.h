// The report of `hum generate` on a recording that was played.
#pragma once

#include <span>
#include <string>

#include "app/play/converter.h"
#include "app/play/outputs.h"

namespace hum::app {

// takes: a list of {output, seed, audio_seconds}. seconds: by stage.
Json conversion_report(const OutputPlan& plan, const Converter& converter, const Hearing& hearing,
                       std::span<const audio::Note> played, const Json& takes, const Json& seconds);

// What was heard of a recording of this length, and what is played of it, for PerformanceEvents.
Json heard_report(double seconds, const Hearing& hearing, std::span<const audio::Note> played);

// Tempo, key and what was done to the notes.
Json score_report(const pipeline::Score& score);

// What was heard, and what was done to it: "9 notes, in its own octave, 90 beats per minute".
std::string melody_text(const Json& report);

// A summary with one line per take.
std::string conversion_text(const Json& report);

}  // namespace hum::app
