#include "app/evaluation/real_recordings.h"

#include <span>
#include <utility>

#include "app/evaluation/reference_report.h"
#include "app/play/references.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/log.h"
#include "pipeline/hum_melody.h"
#include "pipeline/recording.h"

namespace hum::app {

namespace fs = std::filesystem;

RealRecordings::RealRecordings(
    const std::string& singing, const std::string& references, pipeline::HearFunction melody,
    const std::function<void(const std::string& what, const std::string& why)>& lacks)
    : melody_(std::move(melody)) {
  const fs::path singer =
      singing.empty() ? data_folder() / "examples/vocadito_10.wav" : fs::path(singing);
  if (singing.empty() && !fs::exists(singer)) {
    lacks("real singing", "no recording was given (--singing FILE or FOLDER)");
    if (!references.empty()) lacks("real instruments", "there is no phrase to play (--singing)");
    return;
  }
  for (const fs::path& path : pipeline::recordings_of(singer)) {
    singers_.push_back({path.filename().string(), pipeline::read_recording(path).samples});
    pipeline::read_melody(singers_.back().samples, melody_, {}, std::nullopt);
  }
  if (references.empty()) return;
  references_ = pipeline::recordings_of(references);
  std::vector<std::string> warnings;
  for (const fs::path& path : references_) {
    const std::string file = path.string();
    read_clips(std::span(&file, 1), audio::kDefaultMaxSeconds, warnings);
  }
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

Json RealRecordings::report(const Means& means, eval::Examples& examples,
                            const std::function<void()>& between) const {
  Json sung = Json::array(), imitated = Json::array();
  const SingingJudges judges{melody_, means.transcribe, means.render};
  for (size_t i = 0; i < singers_.size(); ++i) {
    const auto add = [&](const std::string& preset, std::span<const float> samples,
                         std::span<const audio::Note> notes) {
      between();
      examples.add("real singing: " + singers_[i].name, fmt::format("singing-{}-{}", i + 1, preset),
                   preset, samples, notes);
    };
    for (Json& row : singing_report(means.synthesizer, judges, singers_[i], add)) {
      sung.push_back(std::move(row));
    }
  }
  if (!references_.empty()) {
    size_t sounds = 0;  // two of each reference
    imitated = reference_report(
        means.weights, references_, singers_.front(),
        [&](const std::string& reference, const std::string& row, std::span<const float> samples,
            std::span<const audio::Note> notes) {
          between();
          examples.add("real instrument: " + reference,
                       fmt::format("reference-{}-{}", sounds++ / 2 + 1, row), row, samples, notes);
        });
  }
  return {{"real_singing", std::move(sung)}, {"real_references", std::move(imitated)}};
}

}  // namespace hum::app
