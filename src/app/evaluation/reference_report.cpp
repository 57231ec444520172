#include "app/evaluation/reference_report.h"

#include <limits>

#include "app/play/loaded_models.h"
#include "audio/io.h"
#include "base/json.h"
#include "data/synthesis/timing.h"
#include "pipeline/generate.h"
#include "pipeline/hum_melody.h"
#include "pipeline/score.h"

namespace hum::app {
namespace {

constexpr uint64_t kSeed = 1;

eval::Timbre audible_timbre(std::span<const float> samples) {
  return eval::timbre_of(samples, data::kSampleRate, eval::kAudibleRange_db);
}

Json row_of(std::span<const Imitation> all, size_t i) {
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

Json imitation_rows(std::span<const Imitation> imitations) {
  Json rows = Json::array();
  for (size_t i = 0; i < imitations.size(); ++i) rows.push_back(row_of(imitations, i));
  return rows;
}

Json reference_report(const std::filesystem::path& weights,
                      std::span<const ReferenceRecording> references, const SungRecording& phrase,
                      const std::function<void(size_t reference, const std::string& row,
                                               std::span<const float> samples,
                                               std::span<const audio::Note> notes)>& sounds) {
  LoadedModels models(weights.string());
  const auto hear = models.hear({}, {});
  std::vector<Imitation> all;
  for (size_t i = 0; i < references.size(); ++i) {
    const std::string file = references[i].path.string();
    const auto timbre = models.timbre_of({file}, audio::kDefaultMaxSeconds, {}, hear);
    const auto melody = pipeline::read_melody(phrase.samples, hear, {}, timbre.range, phrase.name);
    const auto notes = pipeline::make_score(melody.notes, {}, {}).notes;
    const auto instrument = models.synthesizer().instrument(timbre.source, {});
    const auto output = pipeline::finish(pipeline::play(notes, instrument, kSeed),
                                         pipeline::end_of(notes), {.rate_hz = data::kSampleRate});
    all.push_back({.name = references[i].name,
                   .reference = audible_timbre(references[i].samples),
                   .output = audible_timbre(output.samples)});
    sounds(i, "reference", references[i].samples, {});
    sounds(i, "hum", output.samples, notes);
  }
  return imitation_rows(all);
}

}  // namespace hum::app
