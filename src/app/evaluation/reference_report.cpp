#include "app/evaluation/reference_report.h"

#include <limits>
#include <memory>
#include <vector>

#include "app/play/converter.h"
#include "app/play/references.h"
#include "base/json.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/timbre.h"
#include "pipeline/generate.h"

namespace hum::app {
namespace {

struct Imitation {
  std::string name;
  eval::Timbre reference, output;
};

Json row_of(const std::vector<Imitation>& all, size_t i) {
  const double own = eval::timbre_distance(all[i].output, all[i].reference);
  double nearest = std::numeric_limits<double>::infinity();
  Json name;
  int64_t rank = 1;
  for (size_t other = 0; other < all.size(); ++other) {
    if (other == i) continue;
    const double distance = eval::timbre_distance(all[i].output, all[other].reference);
    rank += distance <= own ? 1 : 0;
    if (distance >= nearest) continue;
    nearest = distance;
    name = all[other].name;
  }
  return {{"reference", all[i].name},
          {"timbre distance", own},
          {"nearest other", name},
          {"timbre distance to it", name.is_null() ? Json() : Json(nearest)},
          {"rank", rank}};
}

}  // namespace

Json reference_report(const std::filesystem::path& weights,
                      std::span<const std::filesystem::path> references,
                      const SungRecording& phrase,
                      const std::function<void(const std::string& reference, const std::string& row,
                                               std::span<const float> samples,
                                               std::span<const audio::Note> notes)>& sounds) {
  const auto models = std::make_shared<LoadedModels>(weights.string());
  const pipeline::Recording recording{
      .samples = phrase.samples,
      .seconds = static_cast<double>(phrase.samples.size()) / data::kSampleRate,
      .warnings = {}};
  const auto timbre_of = [](std::span<const float> samples) {
    return eval::timbre_of(samples, data::kSampleRate, eval::kAudibleRange_db);
  };
  std::vector<Imitation> all;
  for (const auto& path : references) {
    const std::string file = path.string(), name = path.filename().string();
    std::vector<std::string> warnings;
    const auto clip = read_clips(std::span(&file, 1), audio::kDefaultMaxSeconds, warnings);
    Converter converter({.timbre = {file}}, models);
    const auto notes = converter.listen(recording, false, phrase.name).score.notes;
    const auto output = pipeline::finish(converter.play(notes), pipeline::end_of(notes),
                                         {.rate_hz = data::kSampleRate});
    all.push_back({name, timbre_of(clip[0].samples), timbre_of(output.samples)});
    sounds(name, "reference", clip[0].samples, {});
    sounds(name, "hum", output.samples, notes);
  }
  Json rows = Json::array();
  for (size_t i = 0; i < all.size(); ++i) rows.push_back(row_of(all, i));
  return rows;
}

}  // namespace hum::app
