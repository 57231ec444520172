// stems-train: the processor time that the released separator took, by its log, and that rendering
// its songs takes, by a part of them.
#include <fstream>
#include <utility>

#include "app/play/synthesizer.h"
#include "app/training/own_songs.h"
#include "base/elapsed.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "bench/bars.h"
#include "bench/stems/songs.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMostTraining_h = 12, kMostRendering_h = 4;
constexpr int64_t kWindows = 64, kSmokeWindows = 1;

struct Training {
  double processor_h = 0;
  int64_t steps = 0, processes = 0;
  bool made_the_weights = false;  // those that are released
};

// Each process of a training counts from 0, and so do the steps of a stage that starts from
// weights.
Training read_log(const fs::path& path, const std::string& sha256) {
  Training training;
  double processor_s = 0;
  int64_t steps = 0;
  const auto end_process = [&] { training.processor_h += std::exchange(processor_s, 0) / 3600; };
  std::ifstream log(path);
  for (std::string text; std::getline(log, text);) {
    const Json line = parse_json(text);
    if (line.contains("run")) {
      end_process();
      ++training.processes;
      if (line.at("run").at("first_step") == 0) training.steps += std::exchange(steps, 0);
    } else if (line.contains("step")) {
      processor_s = line.at("processor_s");
      steps = line.at("step");
    } else if (line.contains("sha256")) {
      training.made_the_weights = line.at("sha256") == sha256;
    }
  }
  end_process();
  training.steps += steps;
  return training;
}

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
  const auto training =
      read_log(weights / "logs/separator.jsonl", runtime::shards_sha256(weights / "separator"));
  bar.value = training.processor_h;
  bar.ours["steps"] = training.steps;
  bar.ours["processes"] = training.processes;
  bar.checks.at_most("training core-hours", training.processor_h, kMostTraining_h);
  bar.checks.holds("the log is of these weights", training.made_the_weights);
  return bar;
}

}  // namespace hum::bench
