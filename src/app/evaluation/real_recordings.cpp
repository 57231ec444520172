#include "app/evaluation/real_recordings.h"

#include <span>
#include <utility>

#include "app/evaluation/reference_report.h"
#include "app/play/recordings.h"
#include "app/play/references.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/log.h"
#include "decode/read.h"
#include "pipeline/hum_melody.h"

namespace hum::app {

namespace fs = std::filesystem;

namespace {

// Its name below the folder, if one was given.
std::string name_of(const FoundRecording& found) {
  return (found.subfolder / found.path.filename()).string();
}

}  // namespace

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
  for (const FoundRecording& found : find_recordings({singer.string()}, true)) {
    singers_.push_back(
        {name_of(found), decode::read_recording(found.path, audio::kDefaultMaxSeconds).samples});
    pipeline::read_melody(singers_.back().samples, melody_, {}, std::nullopt, name_of(found));
  }
  if (references.empty()) return;
  std::vector<std::string> warnings;
  for (const FoundRecording& found : find_recordings({references}, true)) {
    const std::string file = found.path.string();
    auto clips = read_clips(std::span(&file, 1), audio::kDefaultMaxSeconds, warnings);
    references_.push_back({name_of(found), found.path, std::move(clips[0].samples)});
  }
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

Json RealRecordings::report(const Tools& tools, eval::Examples& examples,
                            const std::function<void()>& require_no_stop) const {
  Json sung = Json::array(), imitated = Json::array();
  const SingingJudges judges{melody_, tools.transcribe, tools.render};
  for (size_t i = 0; i < singers_.size(); ++i) {
    const auto add = [&](const std::string& preset, std::span<const float> samples,
                         std::span<const audio::Note> notes) {
      require_no_stop();
      examples.add("real singing: " + singers_[i].name, fmt::format("singing-{}-{}", i + 1, preset),
                   preset, samples, notes);
    };
    for (Json& row : singing_report(tools.synthesizer, judges, singers_[i], add)) {
      sung.push_back(std::move(row));
    }
  }
  if (!references_.empty()) {
    const auto add = [&](size_t i, const std::string& row, std::span<const float> samples,
                         std::span<const audio::Note> notes) {
      require_no_stop();
      examples.add("real instrument: " + references_[i].name,
                   fmt::format("reference-{}-{}", i + 1, row), row, samples, notes);
    };
    imitated = reference_report(tools.weights, references_, singers_.front(), add);
  }
  return {{"real_singing", std::move(sung)}, {"real_references", std::move(imitated)}};
}

}  // namespace hum::app
