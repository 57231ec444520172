#include "eval/harness/melody_score.h"

#include "base/error.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/chroma.h"
#include "eval/metrics/note_score.h"

namespace hum::eval {
namespace {

double share(double value, double ceiling) { return ceiling > 0 ? value / ceiling : 0; }

}  // namespace

MelodyScore judge_melody(std::span<const float> samples, std::span<const audio::Note> notes,
                         const Transcriber& transcribe) {
  const auto heard = transcribe(samples);
  const auto f1 = [&](double onset_tolerance_s) {
    return score_notes(notes, heard, {.onset_tolerance_s = onset_tolerance_s, .best_octave = true})
        .f1;
  };
  return {.chroma = chroma_accuracy(samples, data::kSampleRate, notes).accuracy,
          .f1 = f1(kOnsetTolerance_s),
          .f1_sung = f1(kSungOnsetTolerance_s)};
}

MelodyScore of_ceiling(const MelodyScore& score, const MelodyScore& ceiling) {
  return {.chroma = share(score.chroma, ceiling.chroma),
          .f1 = share(score.f1, ceiling.f1),
          .f1_sung = share(score.f1_sung, ceiling.f1_sung)};
}

MelodyScore mean_of(std::span<const MelodyScore> scores) {
  HUM_REQUIRE(!scores.empty(), "mean_of: no scores");
  MelodyScore mean;
  for (const auto& score : scores) {
    mean.chroma += score.chroma / static_cast<double>(scores.size());
    mean.f1 += score.f1 / static_cast<double>(scores.size());
    mean.f1_sung += score.f1_sung / static_cast<double>(scores.size());
  }
  return mean;
}

}  // namespace hum::eval
