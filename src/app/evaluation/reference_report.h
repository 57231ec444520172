// Evaluates recordings of real instruments as timbre references: the default path of `hum generate`
// plays a singer's phrase with each. Nobody knows how the instruments would play it, so an output
// is compared with the recordings.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/evaluation/singing_report.h"
#include "audio/notes.h"
#include "base/json_fwd.h"
#include "eval/metrics/timbre.h"

namespace hum::app {

struct ReferenceRecording {
  std::string name;
  std::filesystem::path path;
  std::vector<float> samples;  // of the part that is used (read_clips): mono, 22,050 Hz
};

// A reference, as much of it as is used, and what hum plays with it.
struct Imitation {
  std::string name;
  eval::Timbre reference, output;  // with a floor at 60 dB (timbre_of)
};

// [{"reference", "timbre distance", "nearest other", "timbre distance to it", "rank"}]: the
// distance of each output to its own reference, and to the nearest other one (null if there is
// none). Rank 1: none of the others is as near as its own.
Json imitation_rows(std::span<const Imitation> imitations);

// imitation_rows. The channels of stereo weights are mixed. Loads the models once more, for as long
// as it runs. Calls `sounds` twice for each reference, with its index and "reference" or "hum",
// that sound (mono, 22,050 Hz) and the notes that hum plays. Throws: kBadData when the phrase has
// no melody; what read_clips throws.
Json reference_report(const std::filesystem::path& weights,
                      std::span<const ReferenceRecording> references, const SungRecording& phrase,
                      const std::function<void(size_t reference, const std::string& row,
                                               std::span<const float> samples,
                                               std::span<const audio::Note> notes)>& sounds);

}  // namespace hum::app
