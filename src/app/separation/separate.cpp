#include "app/separation/separate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/play/recordings.h"
#include "app/separation/song_separator.h"
#include "app/stop.h"
#include "audio/sound_blocks.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "decode/read.h"

namespace hum::app {
namespace {

// Of stems that were made softer: a little below full scale.
constexpr float kHighestPeak = 1 / 1.01F;

Json kept_files(const SongPlan& plan) {
  Json kept = Json::array();
  for (const StemFilePlan& file : plan.kept) kept.push_back(file.path.string());
  return kept;
}

// What all songs share.
struct SongModels {
  explicit SongModels(std::shared_ptr<const StemModels> models)
      : stems(std::move(models)), confidences(stems->confidences()) {}

  std::shared_ptr<const StemModels> stems;
  StemConfidences confidences;
};

// One song on its way to its files.
class SongRun {
 public:
  SongRun(const SeparateOptions& options, const SongModels& models, const SongPlan& plan,
          const SeparateProgress& progress)
      : plan_(plan),
        progress_(progress),
        confidences_(models.confidences),
        song_(plan.input, options.max_seconds),
        reader_(song_.path(), options.max_seconds),
        separator_(*models.stems, reader_.rate_hz(), reader_.channels()),
        cues_(separator_.stems().size(), reader_.rate_hz(), reader_.channels()) {
    const StemFormat format{reader_.rate_hz(), reader_.channels(), options.outputs.samples(),
                            options.clip_mode};
    for (const StemFilePlan& file : plan.files) {
      audio::require_length(file.path, format.channels, format.samples, reader_.frames());
      files_.emplace_back(file.path, format);
      members_.push_back(members_of(file.stem));
    }
    require_kept_stems(plan, reader_);
    for (const StemFilePlan& file : plan.kept) kept_members_.push_back(members_of(file.stem));
  }

  void run() {
    const auto frames = reader_.frames();
    std::optional<Progress> line;
    if (frames && !progress_) {
      line.emplace("separating " + plan_.track + ", seconds", seconds(*frames));
    }
    const auto update = [&](int64_t done) {
      if (progress_) return progress_("separate", share_of(done, frames.value_or(0)));
      require_no_stop();
      // The last update says how long it took.
      if (line) line->update(std::min(seconds(done), seconds(*frames) - 1));
    };
    frames_ = separate_song(
        reader_, separator_, [this](const auto& stems) { write(stems); }, update);
    if (line) line->update(seconds(*frames));
    line.reset();
    finish_files();
  }

  Json report(Vocals vocals) const {
    Json stems = Json::object(), limited = Json::array();
    for (size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].is_limited()) limited.push_back(plan_.files[i].stem.name);
      stems[plan_.files[i].stem.name] = {{"file", files_[i].path().string()},
                                         {"level_dbfs", finite_or_null(files_[i].level_dbfs())},
                                         {"confidence", confidence(members_[i])}};
    }
    const auto moved_db = separator_.moved_db();
    return {{"input", audio::name_of(plan_.input)},
            {"vocals", std::string(to_name(vocals))},
            {"rate_hz", reader_.rate_hz()},
            {"channels", reader_.channels()},
            {"seconds", static_cast<double>(frames_) / reader_.rate_hz()},
            {"gain_db", 20 * std::log10(gain_)},
            {"moved_to_other_db", moved_db ? Json(*moved_db) : Json()},
            {"stems", stems},
            {"limited", limited},
            {"kept", kept_files(plan_)}};
  }

 private:
  int64_t seconds(int64_t frames) const { return frames / reader_.rate_hz() + 1; }

  // Null for stems that are silent, not calibrated, or several in one file.
  Json confidence(const std::vector<size_t>& members) const {
    if (members.size() != 1) return {};
    const auto known = confidences_.find(separator_.stems()[members[0]]);
    const auto cues = cues_.cues(members[0]);
    return known != confidences_.end() && cues ? confidence_json(known->second, *cues) : Json();
  }

  // All at the same gain. A disk that fills up here leaves no file of the song.
  void finish_files() {
    float peak = kept_peak_;
    bool can_rescale = false;
    for (const StemFile& file : files_) {
      peak = std::max(peak, file.peak());
      can_rescale = can_rescale || file.can_rescale();
    }
    if (can_rescale && peak > 1) gain_ = kHighestPeak / peak;
    const int64_t samples = frames_ * reader_.channels(), all = samples * std::ssize(files_);
    std::optional<Progress> line;
    if (!progress_ && can_rescale) line.emplace("writing " + plan_.track + ", percent", 100);
    const auto update = [&](int64_t written) {
      const double done = share_of(written, all);
      if (progress_) return progress_("write", done);
      require_no_stop();
      if (line) line->update(std::min<int64_t>(std::lround(100 * done), 99));
    };
    for (int64_t i = 0; i < std::ssize(files_); ++i) {
      update(i * samples);
      files_[static_cast<size_t>(i)].finish(
          gain_, [&](int64_t written) { update(i * samples + written); });
    }
    if (!progress_) require_no_stop();
    for (StemFile& file : files_) file.commit();
    if (line) line->update(100);
  }

  // The separator's stems that a file adds up.
  std::vector<size_t> members_of(const WantedStem& stem) const {
    const auto& stems = separator_.stems();
    std::vector<size_t> members;
    for (size_t i = 0; i < stems.size(); ++i) {
      // `rest` is all but the vocals.
      const bool is_rest = stems[i] == "rest" && !stem.parts.contains("vocals");
      if (is_rest || stem.parts.contains(stems[i])) members.push_back(i);
    }
    return members;
  }

  void write(const SongSeparator::Sounds& stems) {
    if (!confidences_.empty()) cues_.push(stems);
    for (size_t i = 0; i < files_.size(); ++i) files_[i].write(sum_of(stems, members_[i]));
    for (const auto& members : kept_members_) {
      for (const float sample : sum_of(stems, members)) {
        kept_peak_ = std::max(kept_peak_, std::abs(sample));
      }
    }
  }

  const SongPlan& plan_;
  const SeparateProgress& progress_;  // empty: the terminal shows it
  const StemConfidences& confidences_;
  const decode::ReadableFile song_;
  audio::SoundReader reader_;
  SongSeparator separator_;
  StemCueMeter cues_;
  std::vector<StemFile> files_;
  std::vector<std::vector<size_t>> members_;
  // Of files that exist: they have the gain of all stems, so the missing ones get the same.
  std::vector<std::vector<size_t>> kept_members_;
  float kept_peak_ = 0;
  int64_t frames_ = 0;
  float gain_ = 1;
};

Json nothing_to_do(const SongPlan& plan, double max_seconds) {
  if (!is_standard_stream(plan.input)) {
    const decode::ReadableFile song(plan.input, max_seconds);
    require_kept_stems(plan, audio::SoundReader(song.path(), max_seconds));
  }
  return {{"input", audio::name_of(plan.input)}, {"kept", kept_files(plan)}};
}

SeparatedFile with_fault(const SongPlan& plan, const Error& error) {
  const std::string input = audio::name_of(plan.input), what = error.what();
  const bool is_named = what.find(input) != std::string::npos;
  return {{{"input", input}, {"error", error.message()}, {"code", static_cast<int>(error.code())}},
          (is_named ? "" : input + ": ") + what};
}

void validate(const SeparateOptions& options) {
  if (!(options.max_seconds > 0)) {
    fail(ExitCode::kUsage, fmt::format("--max-seconds {} is not above 0", options.max_seconds),
         "--max-seconds 21600");
  }
  require_stdin_once(options.inputs);
}

std::shared_ptr<const StemModels> load(const SeparateOptions& options) {
  return std::make_shared<const StemModels>(
      StemModelOptions{.weights = options.weights,
                       .vocals = options.vocals,
                       .only_vocals = are_only_vocals(wanted_stems(options.outputs)),
                       .spleeter = options.spleeter});
}

}  // namespace

SeparateSummary separate(const SeparateOptions& options,
                         const std::function<void(const SeparatedFile&)>& done,
                         const SeparateProgress& progress) {
  validate(options);
  const PlannedStems planned = plan_stems(options.inputs, options.outputs);
  HUM_REQUIRE(!progress || planned.songs.size() == 1, "separate: one progress of {} songs",
              planned.songs.size());
  SeparateSummary summary{.songs = planned.songs.size()};
  std::optional<SongModels> models;
  for (const SongPlan& song : planned.songs) {
    const bool is_kept = song.files.empty();
    // Missing weights are an error of all songs.
    if (!models && !is_kept) models.emplace(options.models ? options.models : load(options));
    SeparatedFile file;
    try {
      if (is_kept) {
        file.report = nothing_to_do(song, options.max_seconds);
      } else {
        SongRun run(options, *models, song, progress);
        run.run();
        file.report = run.report(models->stems->vocals());
      }
    } catch (const Error& error) {
      if (planned.songs.size() == 1 || stop_signal() != 0) throw;
      file = with_fault(song, error);
      if (summary.faults++ == 0) summary.exit_code = static_cast<int>(error.code());
    }
    done(file);
  }
  return summary;
}

std::string separated_text(const Json& report) {
  std::string text;
  for (const auto& file : report.at("kept")) {
    text += fmt::format("{}: kept, because it existed (--overwrite replaces it)\n",
                        file.get<std::string>());
  }
  if (!report.contains("stems")) return text;
  if (!report.at("kept").empty()) {
    text += "they have the gain of the others if their options were the same\n";
  }
  for (const auto& [name, stem] : report.at("stems").items()) {
    const Json &level = stem.at("level_dbfs"), &confidence = stem.at("confidence");
    text += stem.at("file").get<std::string>() + ": ";
    text += level.is_null() ? "silent" : fmt::format("{:.1f} dBFS", level.get<double>());
    if (!confidence.is_null()) {
      text += fmt::format(", expected SDR {:.1f} dB (typical error {:.1f} dB)",
                          confidence.at("sdr_db").get<double>(),
                          confidence.at("error_db").get<double>());
    }
    text += '\n';
  }
  const double gain_db = report.at("gain_db");
  if (gain_db < 0) {
    text +=
        fmt::format("all stems are {:.1f} dB softer, so that none exceeds full scale\n", -gain_db);
  }
  if (const Json& limited = report.at("limited"); !limited.empty()) {
    text += fmt::format("cut off at full scale: {}\n",
                        fmt::join(limited.get<std::vector<std::string>>(), ", "));
  }
  text += fmt::format("vocals: {}\n", report.at("vocals") == "spleeter" ? "Spleeter's" : "own");
  return text;
}

}  // namespace hum::app
