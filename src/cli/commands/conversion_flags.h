// The flags in the help of commands that turn a recording into an instrument's sound.
#pragma once

#include "cli/command.h"

namespace hum::cli {

// For commands that declare the fields of app::ConversionOptions, and with `has_format` also those
// of app::SoundOptions.
inline void group_conversion_flags(FlagVisitor& v, bool has_format = true) {
  v.takes_preset("preset");
  v.group("Melody", {"octave", "transpose", "tuning", "polyphonic", "key", "correct"});
  v.group("Time", {"tempo", "snap", "grid", "swing"});
  v.group("Sound", {"residual", "lm", "strength", "seed"});
  if (has_format) v.group("Sound", {"rate", "bits", "stereo"});
  v.research({"decoder", "greedy", "temperature", "top_k", "top_p", "guidance", "melody_guidance",
              "timbre_guidance", "guidance_over", "draft", "onset_threshold", "frame_threshold",
              "minimum_note_length", "minimum_frequency", "maximum_frequency", "melodia",
              "infer_onsets", "multiple_pitch_bends"});
}

}  // namespace hum::cli
