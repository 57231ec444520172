#include "bench/sound_report.h"

#include <filesystem>
#include <limits>

#include "app/evaluation/clip_settings.h"
#include "app/evaluation/model_opponents.h"
#include "app/play/synthesizer.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/judges.h"
#include "bench/locations.h"
#include "bench/program.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kClips = 500, kSmokeClips = 1;
constexpr const char* kReferenceSeconds = "3";
constexpr const char* kFont = "timgm6mb";
constexpr double kSmokeSinging_s = 2.5;

// The file of the unseen sound font; empty if it is not installed.
std::string find_font() {
  const std::string path(data::find_sound_font(kFont).path);
  return fs::exists(path) ? path : "";
}

// What a usable report must cover: the released models and their baselines.
Json judged_now(int clips) {
  const fs::path weights = app::weights_folder("");
  auto folders = app::baseline_folders(weights);
  folders.push_back(weights);
  return {{"clips", clips},
          {"reference seconds", kReferenceSeconds},
          {"font", find_font()},
          {"program", sha256_file(kHumProgram)},
          {"weights", app::weights_hashes(folders)}};
}

}  // namespace

SoundReport::SoundReport(const Scale& scale) : has_groups_(!scale.smoke) {
  const fs::path folder =
      fs::path(kBuildFolder) / (scale.smoke ? "sound-report-smoke" : "sound-report");
  const fs::path judged = folder / "judged.json", report = folder / "report.json";
  const int clips = scale.smoke ? kSmokeClips : kClips;
  const Json now = judged_now(clips);
  if (!fs::exists(judged) || !fs::exists(report) || parse_json(read_file(judged)) != now) {
    spdlog::info("evaluating the models on {} clips into {}", clips, folder.string());
    std::vector<std::string> command = {"evaluate",
                                        "model",
                                        "-o",
                                        folder.string(),
                                        "--clips",
                                        std::to_string(clips),
                                        "--reference-seconds",
                                        kReferenceSeconds};
    if (const std::string font = find_font(); !font.empty()) {
      command.insert(command.end(), {"--other-font", font});
    }
    const ScratchFolder scratch;
    if (scale.smoke) {
      const std::string singing = scratch / "singing.wav";
      write_example(singing, kSmokeSinging_s);
      command.insert(command.end(), {"--singing", singing, "--resamples", "100"});
    }
    run_hum(command);
    write_file(judged, to_text(now));
  }
  report_ = parse_json(read_file(report));
}

const Json& SoundReport::row(const std::string& name) const {
  for (const Json& row : report_["rows"]) {
    if (row["name"] == name) return row;
  }
  fail(ExitCode::kFailure, fmt::format("the report has no row '{}'", name));
}

std::string SoundReport::why_not(const std::string& name) const {
  for (const Json& lacking : report_["not_measured"]) {
    if (lacking["what"] == name) return lacking["why"];
  }
  return "";
}

const Json& SoundReport::figure(const std::string& name, const std::string& metric,
                                const std::string& group) const {
  return row(name)["groups"].at(has_groups_ ? group : "all").at(metric);
}

const Json& SoundReport::difference(const std::string& name, const std::string& metric,
                                    const std::string& group) const {
  return row(name).at("differences").at(has_groups_ ? group : "all").at(metric);
}

bool SoundReport::has(const std::string& group) const {
  return !has_groups_ || report_["groups"].contains(group);
}

double SoundReport::value(const std::string& name, const std::string& metric,
                          const std::string& group) const {
  const Json& found = figure(name, metric, group);
  return found.is_object() ? found["value"].get<double>()
                           : std::numeric_limits<double>::quiet_NaN();
}

double SoundReport::ratio(const std::string& name, const std::string& other,
                          const std::string& metric, const std::string& group) const {
  return value(name, metric, group) / value(other, metric, group);
}

}  // namespace hum::bench
