// stems-train: the processor time that the released separator took, by its log, and that rendering
// its songs takes, by a part of them.
#include "app/play/synthesizer.h"
#include "app/training/own_songs.h"
#include "base/elapsed.h"
#include "bench/bars.h"
#include "bench/stems/songs.h"
#include "plan/logs.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMostTraining_h = 12, kMostRendering_h = 4;
constexpr int64_t kWindows = 64, kSmokeWindows = 1;

// The hours of one core that all windows of training take.
double rendering_h(const Scale& scale) {
  const auto options = stems::configured(stems::kTraining);
  const data::SongSource source(options.material, app::compose_song);
  data::StemRenderer renderer(options.material, source);
  const int64_t windows = scale.smoke ? kSmokeWindows : kWindows;
  const double begin_s = processor_seconds();
  for (int64_t i = 0; i < windows; ++i) renderer.render(static_cast<uint64_t>(i));
  return (processor_seconds() - begin_s) / static_cast<double>(windows) *
         static_cast<double>(options.count) / 3600;
}

}  // namespace

eval::Bar stems_train(const Scale& scale) {
  eval::Bar bar{.name = "stems-train",
                .unit = "core-hours to train the separator",
                .bar = fmt::format("training <= {} core-hours by the log of the released weights, "
                                   "rendering <= {} core-hours",
                                   kMostTraining_h, kMostRendering_h),
                .reason = stems::missing_material(kFull)};
  if (!bar.reason.empty()) return bar;
  const double rendering = rendering_h(scale);
  bar.checks.at_most("rendering core-hours", rendering, kMostRendering_h);
  const fs::path weights = app::weights_folder("");
  const bool are_here = fs::exists(weights / "separator");
  bar.checks.holds("own: its weights are here", are_here);
  if (!are_here) return bar;
  const auto training = plan::read_training(weights / "logs/separator.jsonl");
  const double training_h = training.processor_s / 3600;
  bar.value = training_h;
  bar.ours["steps"] = training.steps;
  bar.ours["processes"] = training.processes;
  bar.checks.at_most("training core-hours", training_h, kMostTraining_h);
  bar.checks.holds("the log is of these weights",
                   training.sha256 == runtime::shards_sha256(weights / "separator"));
  return bar;
}

}  // namespace hum::bench
