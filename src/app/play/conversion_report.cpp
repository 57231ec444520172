#include "app/play/conversion_report.h"

#include <cmath>
#include <cstdlib>

#include "audio/notes_json.h"
#include "base/log.h"
#include "base/names.h"

namespace hum::app {

Json conversion_report(const OutputPlan& plan, const Converter& converter, const Hearing& hearing,
                       std::span<const audio::Note> played, const Json& takes,
                       const Json& seconds) {
  const ConversionOptions& options = converter.options();
  const auto& [melody, score] = hearing;
  const runtime::Counters counters = converter.counters();
  Json timbre = Json::array();
  for (const ClipPart& part : converter.timbre_parts()) {
    timbre.push_back({{"file", part.file},
                      {"seconds", {part.from_s, part.to_s}},
                      {"read_seconds", {part.read_from_s, part.read_to_s}}});
  }
  Json report = {{"input", plan.input.string()},
                 {"output", takes[0]["output"]},
                 {"preset", options.preset},
                 {"timbre", timbre},
                 {"audio_seconds", takes[0]["audio_seconds"]},
                 {"takes", takes},
                 {"heard_by", melody.heard_by},
                 {"octave", melody.octave},
                 {"octave_reason", melody.octave_reason},
                 {"transpose", options.hum.transpose},
                 {"tuning_cents", melody.tuning_cents}};
  report.update(score_report(score));
  report.update(Json{{"confidence", melody.confidence},
                     {"voiced_share", melody.voiced_share},
                     {"warnings", melody.warnings},
                     {"seconds", seconds},
                     {"counters",
                      {{"compiles", counters.compiles},
                       {"compile_seconds", counters.compile_seconds},
                       {"disk_hits", counters.disk_hits},
                       {"memory_hits", counters.memory_hits}}},
                     {"notes", audio::to_json(played)}});
  return report;
}

Json heard_report(double seconds, const Hearing& hearing, std::span<const audio::Note> played) {
  const auto& [melody, score] = hearing;
  Json report = {{"audio_seconds", seconds},
                 {"heard_by", melody.heard_by},
                 {"octave", melody.octave},
                 {"octave_reason", melody.octave_reason},
                 {"tuning_cents", melody.tuning_cents}};
  report.update(score_report(score));
  report.update(Json{{"confidence", melody.confidence},
                     {"voiced_share", melody.voiced_share},
                     {"warnings", melody.warnings},
                     {"notes", audio::to_json(played)}});
  return report;
}

Json score_report(const pipeline::Score& score) {
  return {{"tempo_bpm", score.tempo ? Json(score.tempo->bpm) : Json()},
          {"first_beat", score.tempo ? Json(score.tempo->first_beat_s) : Json()},
          {"tempo_confidence", score.tempo ? Json(score.tempo->confidence) : Json()},
          {"stretch", score.stretch},
          {"heard_key", score.heard_key ? Json(pipeline::key_name(score.heard_key->key)) : Json()},
          {"key_margin", score.heard_key ? Json(score.heard_key->margin) : Json()},
          {"moved_to_key", score.moved_to_key},
          {"pitch_correction", score.correction}};
}

std::string melody_text(const Json& report) {
  const int octave = report["octave"];
  const double cents = report["tuning_cents"];
  std::string line = counted(static_cast<int64_t>(report["notes"].size()), "note");
  line += octave == 0 ? ", in its own octave"
                      : fmt::format(", {} {}", counted(std::abs(octave), "octave"),
                                    octave > 0 ? "up" : "down");
  if (std::abs(cents) >= 0.5) {
    line +=
        fmt::format(", {:.0f} cents {} corrected", std::abs(cents), cents > 0 ? "sharp" : "flat");
  }
  if (!report["tempo_bpm"].is_null()) {
    line += fmt::format(", {:.0f} beats per minute", report["tempo_bpm"].get<double>());
  }
  if (!report["heard_key"].is_null()) line += ", " + report["heard_key"].get<std::string>();
  if (const auto moved = report["moved_to_key"].get<int64_t>(); moved > 0) {
    line += fmt::format(", {} moved into the key", counted(moved, "note"));
  }
  return line;
}

std::string conversion_text(const Json& report) {
  const std::string line = melody_text(report);
  const bool several = report["takes"].size() > 1;
  std::string text;
  for (const Json& take : report["takes"]) {
    const std::string seed = fmt::format("seed {}, ", take["seed"].get<int64_t>());
    text += fmt::format("{}: {}{}; {:.1f} s of sound in {}\n", take["output"].get<std::string>(),
                        several ? seed : "", line, take["audio_seconds"].get<double>(),
                        format_duration(report["seconds"]["total"].get<double>()));
  }
  return text;
}

}  // namespace hum::app
