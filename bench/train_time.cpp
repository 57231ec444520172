// train-time: what the training of the released weights takes, in hours of one core: the sum of
// their logs, with rendering and coding the items. A stage that a GPU trained counts by 200 of its
// steps on two cores, replayed here on a few items. Left out: ear, separator, classifier and
// baselines, which are other systems.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/elapsed.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/program.h"
#include "data/stems/songs.h"
#include "data/synthesis/sound_fonts.h"
#include "data/synthesis/timing.h"
#include "kernels/cpu_features.h"
#include "models/codec/codec_session.h"
#include "plan/logs.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMostCoreHours = 28;
constexpr int kCores = 2;
constexpr double kItems = 12'000;  // those of the configuration that the weights learned from
constexpr const char* kData = "data-generation-4.yaml";

struct StageRow {
  const char* name;           // of the log
  const char* configuration;  // in configs/
  const char* weights;        // folder
  bool makes_drafts = false;  // of all items, before its first step
};
constexpr StageRow kStages[] = {
    {"codec", "codec-generation-4.yaml", "codec"},
    {"codec-decoder", "codec-decoder.yaml", "codec"},
    {"codec-decoder-floor", "codec-decoder-floor.yaml", "codec"},
    {"predictor", "predictor-generation-4.yaml", "predictor"},
    {"voice", "voice-generation-4.yaml", "voice", /*makes_drafts=*/true},
    {"upsampler", "upsampler-generation-4.yaml", "upsampler"},
    {"coarse", "coarse-generation-4.yaml", "coarse"},
    {"judge", "classifier-robust.yaml", "judge"}};

struct ReplaySize {
  int64_t steps, log_every, items, encoded_windows;
  std::optional<int64_t> batch;  // default: the configuration's
};
constexpr ReplaySize kReplay{200, 20, 64, 16, {}}, kSmokeReplay{2, 1, 4, 2, 1};

struct Cost {
  double wall_s = 0, core_s = 0;
  Cost operator*(double factor) const { return {wall_s * factor, core_s * factor}; }
  Json json() const { return {{"wall_hours", wall_s / 3600}, {"core_hours", core_s / 3600}}; }
};

struct Stage {
  StageRow row;
  plan::LoggedTraining logged;
  Cost cost;  // by its log; of its steps on two cores, if a GPU trained it
};

fs::path configuration(const char* name) { return source_folder() / "configs" / name; }

std::vector<Stage> read_logs(const fs::path& weights) {
  std::vector<Stage> stages;
  for (const StageRow& row : kStages) {
    const auto logged = plan::read_training(weights / "logs" / (std::string(row.name) + ".jsonl"));
    stages.push_back({row, logged, {logged.seconds, logged.processor_s}});
  }
  return stages;
}

// The package of a sound font of the items that is not here; empty: all are.
std::string missing_package() {
  const Json fonts = read_yaml(configuration(kData)).at("items").at("sound_fonts");
  for (const Json& name : fonts) {
    const auto& font = data::find_sound_font(name.get<std::string>());
    const std::string package(font.package);
    if (!fs::exists(font.path) && !data::fetched_package(package)) return package;
  }
  return {};
}

class Replay {
 public:
  // Renders a few items.
  Replay(const ReplaySize& size, const fs::path& weights) : size_(size), weights_(weights) {
    spdlog::info("rendering {} items", size_.items);
    const auto run = run_hum({"data", "make", "--config", configuration(kData).string(), "--count",
                              std::to_string(size_.items), "-o", folder_ / "data"});
    item_ = Cost{run.seconds, run.processor_s} * (1 / static_cast<double>(size_.items));
  }

  // Of an item: an upper bound, because a large run loads its sound fonts only once.
  Cost rendering() const { return item_; }

  // Of an item: target and reference.
  Cost coding() const {
    spdlog::info("coding {} windows", size_.encoded_windows);
    runtime::Session session(app::session_options());
    const models::codec::CodecSession codec(session, weights_ / "codec");
    const std::vector<float> windows(
        static_cast<size_t>(size_.encoded_windows * data::kItemSamples), 0.1F);
    codec.encode_windows(windows);  // compiles
    const auto begin = std::chrono::steady_clock::now();
    const double begin_s = processor_seconds();
    codec.encode_windows(windows);
    const Cost all{seconds_since(begin), processor_seconds() - begin_s};
    return all * (2 / static_cast<double>(size_.encoded_windows));
  }

  // Of a step on two cores, without the start of the program.
  Cost step(const StageRow& row) const {
    spdlog::info("{}: {} steps", row.name, size_.steps);
    const std::string name = row.name, run = folder_ / ("run-" + name);
    write_json(folder_ / (name + ".yaml"), shortened(row));  // JSON is YAML
    std::vector<std::string> command = {
        "train",    folder_ / (name + ".yaml"),   "--data", folder_ / "data", "--run", run,
        "--output", folder_ / ("weights-" + name)};
    if (kernels::chosen_isa() < kernels::Isa::kAvx512Bf16) {  // as hum train advises
      command.insert(command.end(), {"--compute", "f32"});
    }
    run_hum(command);
    const auto replayed = plan::read_training(fs::path(run) / "log.jsonl");
    HUM_REQUIRE(replayed.steps == size_.steps && replayed.is_on_cpu,
                "{}: {} steps on {} instead of {} on a CPU", name, replayed.steps,
                replayed.hardware, size_.steps);
    return {replayed.step_s, replayed.step_processor_s};
  }

 private:
  Json shortened(const StageRow& row) const {
    Json config = read_yaml(configuration(row.configuration));
    Json& stage = config["stage"];
    stage["held_out"] = 0;
    stage["weights"] = weights_.string();
    stage["loop"]["steps"] = size_.steps;
    stage["loop"]["log_every"] = size_.log_every;
    if (size_.batch) stage["batch"] = *size_.batch;
    return config;
  }

  const ReplaySize size_;
  const fs::path weights_;
  ScratchFolder folder_;
  Cost item_;
};

// A training on a machine without tokens first encodes the items. What a log holds of that does not
// count again.
double coding_in_logs_s(std::span<const Stage> stages) {
  double seconds = 0;
  for (const Stage& stage : stages) {
    if (stage.row.makes_drafts || !stage.logged.is_on_cpu) continue;
    seconds = std::max(seconds, stage.logged.start_processor_s);
  }
  return seconds;
}

Json figures_of(const Stage& stage, const ReplaySize& size) {
  Json figures = stage.cost.json();
  figures["steps"] = stage.logged.steps;
  figures["hardware"] = stage.logged.hardware;
  if (stage.logged.is_on_cpu) {
    figures["start_core_hours"] = stage.logged.start_processor_s / 3600;
  } else {
    figures["estimated"] = true;
    figures["from"] = fmt::format("{} steps on {} cores", size.steps, kCores);
    figures["logged_wall_hours"] = stage.logged.seconds / 3600;
  }
  return figures;
}

// Whether a log or the card has each SHA-256: otherwise nothing shows that training made these
// weights.
bool are_weights_in_log(std::span<const Stage> stages, const fs::path& weights) {
  const fs::path path = weights / "README.md";
  const std::string card = fs::exists(path) ? read_file(path) : "";
  bool all = true;
  for (const Stage& stage : stages) {
    const std::string hash = runtime::shards_sha256(weights / stage.row.weights);
    if (hash == stage.logged.sha256 || card.find(hash) != std::string::npos) continue;
    spdlog::warn("weights/{}: its log and the card do not contain its SHA-256", stage.row.weights);
    all = false;
  }
  return all;
}

// Sums up the parts and shows them.
void add_parts(eval::Bar& bar, const Json& parts) {
  double wall_h = 0, core_h = 0;
  eval::TextTable table({"part", "wall hours", "core-hours", "from"});
  for (const auto& [name, part] : parts.items()) {
    wall_h += part.at("wall_hours").get<double>();
    core_h += part.at("core_hours").get<double>();
    table.row({name, fmt::format("{:.2f}", part.at("wall_hours").get<double>()),
               fmt::format("{:.2f}", part.at("core_hours").get<double>()),
               part.value("from", "log")});
    bar.ours[name] = part;
  }
  std::cerr << table.text() << fmt::format("sum: {:.2f} h, {:.2f} core-hours\n", wall_h, core_h);
  bar.value = core_h;
  bar.ours["wall_hours"] = wall_h;
  bar.checks.at_most("core_hours", core_h, kMostCoreHours);
}

}  // namespace

eval::Bar train_time(const Scale& scale) {
  use_cores(kCores);
  eval::Bar bar{.name = "train-time",
                .unit = "core-hours",
                .bar = fmt::format("rendering, coding and training <= {} core-hours by the logs, "
                                   "stages trained on a GPU by {} steps on {} cores; the weights' "
                                   "SHA-256 in their log or the card",
                                   kMostCoreHours, kReplay.steps, kCores)};
  const fs::path weights = fs::absolute(app::weights_folder(""));
  auto stages = read_logs(weights);
  const std::string missing = missing_package();
  if (!missing.empty()) {
    bar.reason = fmt::format("{0} needs make fetch-stems, or apt install {0}", missing);
    return bar;
  }
  const ReplaySize size = scale.smoke ? kSmokeReplay : kReplay;
  const Replay replay(size, weights);
  const Cost coding = replay.coding() * kItems;
  Json parts = {{"rendering", (replay.rendering() * kItems).json()}, {"coding", coding.json()}};
  parts["coding"]["core_hours"] = std::max(0.0, coding.core_s - coding_in_logs_s(stages)) / 3600;
  parts["coding"]["measured_core_hours"] = coding.core_s / 3600;
  parts["rendering"]["from"] = fmt::format("{} items", size.items);
  parts["coding"]["from"] = fmt::format("{} windows", size.encoded_windows);
  for (const char* name : {"rendering", "coding"}) parts[name]["estimated"] = true;
  for (Stage& stage : stages) {
    if (!stage.logged.is_on_cpu) {
      stage.cost = replay.step(stage.row) * static_cast<double>(stage.logged.steps);
    }
    parts[stage.row.name] = figures_of(stage, size);
  }
  add_parts(bar, parts);
  bar.checks.holds("weights_in_log", are_weights_in_log(stages, weights));
  return bar;
}

}  // namespace hum::bench
