// What `hum generate` tells of a recording that was played.
#pragma once

#include <span>
#include <string>

#include "cli/outputs.h"
#include "cli/performer.h"

namespace hum::cli {

// takes: a list of {output, seed, audio_seconds}. seconds: by stage.
Json play_report(const OutputPlan& plan, const Performer& performer, const Hearing& hearing,
                 std::span<const audio::Note> played, const Json& takes, const Json& seconds);

// The same in short, a line a take.
std::string play_text(const Json& report);

}  // namespace hum::cli
