// train-time: hours to train weights/ on two cores. Every stage is replayed for 30 steps with its
// configuration, on the tokens of the released weights. The compile cache starts empty. A stage
// continues from the weights of the previous replay of the same model. A stage's time is the step
// time times the model card's steps, plus the time before the first step. Encoding the training
// items, once for all stages, counts as a stage. Rendering them (the data, not the weights) is
// measured separately.
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/program.h"
#include "data/synthesis/timing.h"
#include "eval/harness/card.h"
#include "kernels/cpu_features.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

struct ReplaySize {
  int64_t steps, log_every, items, encoded_windows;
  std::optional<int64_t> batch;  // default: the configuration's
  bool empty_cache;              // false: the user's cache
};
constexpr ReplaySize kReplay{30, 10, 64, 16, {}, true}, kSmokeReplay{2, 1, 4, 2, 1, false};
constexpr double kMaxHours = 3;
constexpr int kCores = 2;
// Each name has a configuration and a row of the card.
constexpr const char* kStages[] = {
    "codec",         "codec-decoder",          "codec-decoder-more-presets", "upsampler",
    "coarse",        "upsampler-more-presets", "coarse-more-presets",        "voice",
    "voice-balance", "voice-more-presets"};

struct Stage {
  std::string name;
  int64_t steps = 0;
  bool on_card = false;  // false: the steps are the configuration's
  double step_s = 0, start_s = 0;
  double seconds() const { return start_s + step_s * static_cast<double>(steps); }
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds per step, between the first and the last log line.
double step_seconds(const std::string& log, const ReplaySize& size) {
  std::ifstream stream(log);
  std::vector<Json> lines;
  for (std::string line; std::getline(stream, line);) {
    Json entry = parse_json(line);
    if (entry.contains("step")) lines.push_back(std::move(entry));
  }
  HUM_REQUIRE(std::ssize(lines) == size.steps / size.log_every, "{}: {} lines", log, lines.size());
  return (lines.back()["seconds"].get<double>() - lines.front()["seconds"].get<double>()) /
         static_cast<double>(size.steps - size.log_every);
}

class Replay {
 public:
  // Renders a few items.
  explicit Replay(const ReplaySize& size)
      : size_(size), weights_(fs::absolute(app::weights_folder(""))), card_(read_card()) {
    spdlog::info("rendering {} items", size_.items);
    const Json config = read_yaml(configs_ / "data.yaml");
    items_ = config.at("count").get<int64_t>();
    const auto run = hum({"data", "make", "--config", (configs_ / "data.yaml").string(), "--count",
                          std::to_string(size_.items), "-o", folder_ / "data"});
    render_s_ = run.seconds * static_cast<double>(items_) / static_cast<double>(size_.items);
  }

  Stage stage(const std::string& name) {
    spdlog::info("{}: {} steps", name, size_.steps);
    Json config = read_yaml(configs_ / (name + ".yaml"));
    Stage stage{.name = name, .steps = config["stage"]["loop"].at("steps").get<int64_t>()};
    if (const auto steps = eval::card_number(card_, name, "steps")) {
      stage.steps = static_cast<int64_t>(*steps);
      stage.on_card = true;
    }
    const std::string model = config.at("model_type");
    config["stage"]["held_out"] = 0;
    config["stage"]["weights"] = weights_.string();
    config["stage"]["loop"]["steps"] = size_.steps;
    config["stage"]["loop"]["log_every"] = size_.log_every;
    if (size_.batch) config["stage"]["batch"] = *size_.batch;
    write_json(folder_ / (name + ".yaml"), config);  // JSON is YAML
    const std::string run = folder_ / ("run-" + name);
    const fs::path trained = folder_ / ("weights-" + name);
    std::vector<std::string> command = {"train",    folder_ / (name + ".yaml"),
                                        "--data",   folder_ / "data",
                                        "--run",    run,
                                        "--output", trained / model};
    if (const auto before = trained_.find(model); before != trained_.end()) {
      command.insert(command.end(), {"--init", before->second});
    }
    if (kernels::chosen_isa() < kernels::Isa::kAvx512Bf16) {  // as hum train advises
      command.insert(command.end(), {"--compute", "f32"});
    }
    const auto replay = hum(command);
    trained_[model] = trained;
    stage.step_s = step_seconds(run + "/log.jsonl", size_);
    stage.start_s = std::max(0.0, replay.seconds - static_cast<double>(size_.steps) * stage.step_s);
    return stage;
  }

  // Encodes every item's target and reference.
  Stage tokens() const {
    spdlog::info("tokens");
    runtime::Session session(app::session_options());
    const models::codec::CodecSession codec(session, weights_ / "codec");
    const std::vector<float> windows(
        static_cast<size_t>(size_.encoded_windows * data::kItemSamples), 0.1F);
    codec.encode_windows(windows);
    const double start = now_s();
    codec.encode_windows(windows);
    return {.name = "tokens",
            .steps = items_,
            .step_s = 2 * (now_s() - start) / static_cast<double>(size_.encoded_windows)};
  }

  double render_hours() const { return render_s_ / 3600; }

  // Models whose weights' SHA-256 is in no training log or card: nothing shows that training made
  // these weights.
  std::vector<std::string> unlogged() const {
    std::string logs;
    for (const auto& entry : fs::recursive_directory_iterator(weights_)) {
      const auto extension = entry.path().extension();
      if (extension == ".jsonl" || extension == ".md") logs += read_file(entry.path());
    }
    std::vector<std::string> missing;
    for (const auto& [model, folder] : trained_) {
      const std::string hash = runtime::shards_sha256(weights_ / model);
      if (logs.find(hash) == std::string::npos) missing.push_back(model);
    }
    return missing;
  }

 private:
  std::string read_card() const {
    const fs::path card = weights_ / "README.md";
    return fs::exists(card) ? read_file(card) : "";
  }
  ProgramRun hum(const std::vector<std::string>& arguments) const {
    std::map<std::string, std::string> environment;
    if (size_.empty_cache) environment["HUM_CACHE"] = folder_ / "cache";
    return run_hum(arguments, environment);
  }

  const ReplaySize size_;
  const fs::path weights_, configs_ = source_folder() / "configs";
  const std::string card_;
  ScratchFolder folder_;
  std::map<std::string, fs::path> trained_;  // by model: output folder of its last stage
  int64_t items_ = 0;
  double render_s_ = 0;
};

}  // namespace

eval::Bar train_time(const Scale& scale) {
  use_cores(kCores);
  Replay replay(scale.smoke ? kSmokeReplay : kReplay);
  std::vector<Stage> stages = {replay.tokens()};
  for (const char* name : kStages) stages.push_back(replay.stage(name));
  double hours = 0;
  eval::TextTable table({"stage", "steps", "from", "s per step", "start s", "minutes"});
  eval::Bar bar{.name = "train-time",
                .unit = "h",
                .bar = fmt::format("sum of stages <= {} h on {} cores; the weights' SHA-256 in a "
                                   "training log or the card",
                                   kMaxHours, kCores)};
  for (const auto& stage : stages) {
    hours += stage.seconds() / 3600;
    table.row({stage.name, std::to_string(stage.steps), stage.on_card ? "card" : "configuration",
               fmt::format("{:.3f}", stage.step_s), fmt::format("{:.0f}", stage.start_s),
               fmt::format("{:.1f}", stage.seconds() / 60)});
    bar.ours[stage.name] = {
        {"steps", stage.steps}, {"step_s", stage.step_s}, {"minutes", stage.seconds() / 60}};
  }
  std::cerr << table.text()
            << fmt::format("sum {:.2f} h; rendering the items {:.2f} h\n", hours,
                           replay.render_hours());
  bar.value = hours;
  bar.checks.at_most("hours", hours, kMaxHours);
  const auto unlogged = replay.unlogged();
  for (const auto& model : unlogged) {
    spdlog::warn("weights/{}: no log or card contains its SHA-256", model);
  }
  bar.checks.holds("weights_in_log", unlogged.empty());
  bar.ours["render_hours"] = replay.render_hours();
  return bar;
}

}  // namespace hum::bench
