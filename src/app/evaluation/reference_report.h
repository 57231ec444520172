// Evaluates recordings of real instruments as timbre references: the default path of `hum generate`
// plays a singer's phrase with each. Nobody knows how the instruments would play it, so an output
// is compared with the recordings.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "app/evaluation/singing_report.h"
#include "audio/notes.h"
#include "base/json_fwd.h"

namespace hum::app {

// [{"reference", "timbre distance", "nearest other", "timbre distance to it", "rank"}]: distances
// of the output to its own reference and to the nearest other one, with a floor at 60 dB; rank 1:
// its own is the nearest. The part of a recording that the models read is what counts of it. Calls
// `sounds` with each reference's name, "reference" or "hum", that sound (mono, 22,050 Hz) and hum's
// notes. Throws: kBadData when the phrase has no melody; what read_clips throws.
Json reference_report(const std::filesystem::path& weights,
                      std::span<const std::filesystem::path> references,
                      const SungRecording& phrase,
                      const std::function<void(const std::string& reference, const std::string& row,
                                               std::span<const float> samples,
                                               std::span<const audio::Note> notes)>& sounds);

}  // namespace hum::app
