#include "app/evaluation/model_report.h"

#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <utility>

#include "app/evaluation/clip_settings.h"
#include "app/evaluation/model_opponents.h"
#include "app/evaluation/model_systems.h"
#include "app/evaluation/real_recordings.h"
#include "app/evaluation/sampled_systems.h"
#include "app/evaluation/test_sounds.h"
#include "app/play/hearing.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "base/log.h"
#include "base/machine.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/timing.h"
#include "eval/harness/clip_log.h"
#include "eval/harness/summary.h"
#include "eval/listening/mushra.h"
#include "eval/report/examples.h"
#include "eval/report/folder.h"
#include "eval/report/page.h"
#include "models/registry.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMinResamples = 100, kMaxResamples = 100'000;
constexpr double kMinReference_s = 1, kMaxReference_s = 30;

void validate(const ModelReportOptions& options) {
  if (options.output.empty()) fail(ExitCode::kUsage, "no output folder was given", "-o report");
  if (options.test_set.clips < 1) {
    fail(ExitCode::kUsage, fmt::format("--clips {} is out of range", options.test_set.clips),
         "--clips must be 1 or more");
  }
  const double reference_s = options.test_set.reference_s;
  if (!(reference_s >= kMinReference_s && reference_s <= kMaxReference_s)) {
    fail(ExitCode::kUsage, fmt::format("--reference-seconds {} is out of range", reference_s),
         fmt::format("--reference-seconds takes {} to {}", kMinReference_s, kMaxReference_s));
  }
  const int64_t resamples = options.bootstrap.resamples;
  if (resamples < kMinResamples || resamples > kMaxResamples) {
    fail(ExitCode::kUsage, fmt::format("--resamples {} is out of range", resamples),
         fmt::format("--resamples takes {} to {}", kMinResamples, kMaxResamples));
  }
}

// Runs the command step by step and collects its report.
class Report {
 public:
  explicit Report(const ModelReportOptions& options)
      : options_(options),
        weights_(weights_folder(options.weights)),
        folder_(options.output),
        session_(session_options()),
        model_(session_, weights_),
        opponents_(session_),
        sounds_(weights_, options.other_font),
        sampled_(sounds_.sources(), model_),
        plans_(eval::plan_test_set(options_.test_set, sounds_.sources())),
        examples_(folder_) {
    // Damaged weights fail here, before any work.
    model_.synthesizer().humming().load(true, true);
    for (const auto& text : options.against) opponents_.add(text);
    for (const auto& [what, why] : opponents_.add_baselines(weights_)) lacks(what, why);
    require_own_rows();
    choose_rated_rows();
    say_what_is_missing();
    find_judges();
    real_.emplace(options.singing, options.references, hear_function(session_, weights_),
                  [&](const std::string& what, const std::string& why) { lacks(what, why); });
  }

  void measure() {
    const auto systems = all_systems();
    const auto known = earlier_clips(systems);
    Progress progress("evaluating", std::ssize(plans_));
    const auto evaluation = eval::evaluate(
        plans_, [&](const eval::TestClipPlan& plan) { return make_clip(plan); }, systems, judges_,
        {.progress =
             [&](size_t done) {
               stop_if_asked();
               progress.update(static_cast<int64_t>(done));
             },
         .heard =
             [&](size_t i, const eval::TestClip& clip, const eval::System& system,
                 std::span<const float> samples) {
               stop_if_asked();
               keep(i, clip, system.name, samples);
             },
         .judged = [&](size_t i, const eval::ClipResults& results) { store(i, results); }},
        known);
    summary_ = eval::summarise(evaluation, options_.bootstrap);
    folder_.write("clips.csv", eval::clips_csv(evaluation));
  }

  void play_recordings() {
    real_figures_ = real_->report(
        {model_.synthesizer(), weights_, judges_.transcribe, sounds_.sources().render}, examples_,
        stop_if_asked);
  }

  Json write() {
    Json report = {{"title", "hum: evaluation of the models"}, {"about", about()}};
    report.update(summary_);
    report["codebooks"] = model_.codebook_use();
    report.update(real_figures_);
    report["not_measured"] = not_measured_;
    report["examples"] = examples_.json();
    const Json test = eval::listening_test(examples_.json(), rated_);
    report["listening_test"] = {{"id", test["id"]}, {"rows", rated_}};
    folder_.write("report.json", to_text(report, 1) + "\n");
    folder_.write("index.html", eval::report_page(report));
    folder_.write_site(test);
    folder_.commit();
    return report;
  }

 private:
  static void stop_if_asked() {
    if (stop_signal() != 0)
      fail(ExitCode::kFailure, "stopped; no report was written", "to resume, repeat the command");
  }

  void lacks(const std::string& what, const std::string& why) {
    not_measured_.push_back({{"what", what}, {"why", why}});
    spdlog::warn("not measured: {}: {}", what, why);
  }

  void require_own_rows() {
    std::set<std::string> names;
    for (const eval::System& system : all_systems()) {
      if (names.insert(system.name).second) continue;
      fail(ExitCode::kUsage, fmt::format("--against: '{}' is already used", system.name),
           "--against NAME=FOLDER: choose another name");
    }
  }

  void choose_rated_rows() {
    rated_ = options_.listen;
    if (rated_.empty()) rated_.assign(std::begin(eval::kRatedRows), std::end(eval::kRatedRows));
    if (rated_.size() > eval::kMaxRatedRows) {
      fail(ExitCode::kUsage, fmt::format("--listen: {} rows are too many", rated_.size()),
           fmt::format("a listening test takes {} rows at most", eval::kMaxRatedRows));
    }
    std::set<std::string> names;
    for (const eval::System& system : all_systems()) names.insert(system.name);
    names.erase(eval::true_rendering().name);  // the reference of the test
    for (const std::string& row : rated_) {
      if (names.erase(row) > 0) continue;
      fail(ExitCode::kUsage, fmt::format("--listen: no row '{}', or it is named twice", row),
           fmt::format("the rows: {}", fmt::join(names, "; ")));
    }
  }

  void say_what_is_missing() {
    if (model_.synthesizer().channels() != audio::Channels::kMono) {
      lacks("token figures",
            "the clips are mono, but the weights are stereo: figures are of the channels' mean");
    }
    if (!sounds_.sources().render_other_font) {
      lacks("unseen sound font", "no second sound font (apt install timgm6mb-soundfont)");
    }
    if (sounds_.sources().unseen.empty()) {
      lacks("unseen presets", "the weights are trained on all presets");
    }
  }

  void find_judges() {
    judges_.transcribe = transcriber(session_, {});
    const fs::path folder = judge_folder(weights_);
    if (!fs::exists(folder)) {
      lacks("preset classifier, Frechet distance",
            "the weights have no classifier (hum train classifier)");
      return;
    }
    judges_.classify = preset_classifier(session_, folder);
  }

  std::vector<eval::System> all_systems() {
    auto systems = model_.systems();
    auto append = [&](std::vector<eval::System> more) {
      for (auto& system : more) systems.push_back(std::move(system));
    };
    append({model_.by_name()});
    append(opponents_.systems());
    append({eval::true_rendering(), model_.heard_rendering(), model_.own_reference(),
            model_.guided_copy(), model_.codec_copy()});
    append(eval::floors());
    append(sampled_.systems());
    return systems;
  }

  eval::TestClip make_clip(const eval::TestClipPlan& plan) {
    auto clip = eval::make_test_clip(plan, options_.test_set, sounds_.sources());
    model_.prepare(clip);
    opponents_.prepare(clip);
    if (!model_.heard().empty()) clip.heard_truth = clip.play_truth(model_.heard());
    return clip;
  }

  // What an unfinished report with the same settings holds.
  std::vector<eval::ClipResults> earlier_clips(std::span<const eval::System> systems) {
    auto weights = opponents_.folders();
    weights.push_back(weights_);
    const fs::path fonts[] = {data::sound_font_path(), sounds_.other_font()};
    log_.emplace(folder_.clips_file(),
                 clip_settings(session_, options_.test_set, systems, weights, fonts));
    std::vector<eval::ClipResults> known;
    for (const Json& clip : log_->earlier()) {
      known.push_back(eval::clip_results(clip.at("results")));
      for (const auto& [system, tokens] : clip.at("tokens").items()) {
        model_.count_tokens(system, tokens.get<std::vector<int32_t>>());
      }
      if (clip.contains("example")) examples_.restore(clip.at("example"));
    }
    if (known.empty()) {
      folder_.begin_anew();
    } else {
      spdlog::info("resumes after {} of {} clips", known.size(), plans_.size());
    }
    return known;
  }

  // Counts tokens and keeps the sounds of example clips.
  void keep(size_t i, const eval::TestClip& clip, const std::string& system,
            std::span<const float> samples) {
    if (system == "hum" || system == eval::true_rendering().name) {
      const auto tokens = model_.tokens_of(samples);
      model_.count_tokens(system, tokens);
      tokens_[system] = tokens;
    }
    examples_.keep(i, clip, system, samples);
  }

  void store(size_t i, const eval::ClipResults& results) {
    Json clip = {{"results", eval::clip_json(results)},
                 {"tokens", std::exchange(tokens_, Json::object())}};
    if (i < eval::kExampleClips) clip["example"] = examples_.json().back();
    log_->add(clip);
  }

  Json about() const {
    Json hashes = Json::object();
    for (const models::ModelRow& row : models::registry()) {
      if (!row.weights) continue;
      const fs::path folder = models::weights_part(weights_, *row.weights);
      if (fs::exists(folder)) hashes[std::string(row.name)] = runtime::shards_sha256(folder);
    }
    const fs::path judge = models::weights_part(weights_, "judge");
    if (fs::exists(judge)) hashes["judge"] = runtime::shards_sha256(judge);
    return {{"hum", HUM_VERSION},
            {"clips", options_.test_set.clips},
            {"seconds a clip", options_.test_set.seconds},
            {"seconds a reference", options_.test_set.reference_s},
            {"seed of the clips", options_.test_set.seed},
            {"bootstrap resamples", options_.bootstrap.resamples},
            {"bootstrap seed", options_.bootstrap.seed},
            {"confidence", options_.bootstrap.confidence},
            {"weights sha256", hashes},
            {"sound font", data::sound_font_path().filename().string()},
            {"other sound font", sounds_.other_font().filename().string()},
            {"machine", processor_name()},
            {"platform", session_.platform()}};
  }

  const ModelReportOptions& options_;
  fs::path weights_;
  eval::ReportFolder folder_;
  runtime::Session session_;
  ModelSystems model_;
  ModelOpponents opponents_;
  TestSounds sounds_;
  SampledSystems sampled_;
  std::vector<eval::TestClipPlan> plans_;
  eval::Examples examples_;
  std::optional<eval::ClipLog> log_;
  Json tokens_ = Json::object();  // of the clip that is being judged
  eval::Judges judges_;
  std::optional<RealRecordings> real_;
  std::vector<std::string> rated_;  // rows of the listening test
  Json summary_, real_figures_, not_measured_ = Json::array();
};

}  // namespace

Json write_model_report(const ModelReportOptions& options) {
  validate(options);
  Report report(options);
  report.measure();
  report.play_recordings();
  return report.write();
}

}  // namespace hum::app
