// Summarises an evaluation as JSON: every figure of every row with its interval, over all clips and
// over groups of clips.
#pragma once

#include "base/json_fwd.h"
#include "eval/harness/evaluation.h"
#include "eval/metrics/bootstrap.h"

namespace hum::eval {

// A set of clips: "all", a split, a mode.
struct ClipGroup {
  std::string name;
  std::vector<size_t> clips;
};

// The clips of unseen presets whose reference is in the melody's register.
inline constexpr const char* kSameRegister = "unseen preset, same register";

// All clips; the splits, kSameRegister and the modes that have clips.
std::vector<ClipGroup> clip_groups(std::span<const TestClipPlan> plans);

// {"metrics": [{key, name, unit, better, what}],
//  "groups": {name: clips},
//  "rows": [{"name", "role", "what",
//            "groups": {group: {metric: {"value", "low", "high", "clips"}}},
//            "against": name, "differences": like "groups": this row less that one, clip by clip,
//            "fad": {"embedding", "value", "clips"}: against the true rendering's clips,
//            "octaves": {"largest_db", "largest_db_from_62_hz",
//                       "bands": [{"hz", "difference_db"}]}: likewise, all clips as one sound}]}
// Clips whose figure is not finite are left out, and "clips" is the number of the others; a figure
// without clips is null. The interval is BCa over clips. The Frechet distance has none, because
// resamples have fewer different clips, which biases it.
Json summarise(const Evaluation& evaluation, const BootstrapOptions& options);

// CSV with one line per clip and row: row, clip, split, preset, mode, then every metric by key;
// metrics that were not measured are empty.
std::string clips_csv(const Evaluation& evaluation);

inline constexpr const char* kFadName = "FAD (hum preset classifier)";

}  // namespace hum::eval
