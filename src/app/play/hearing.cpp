#include "app/play/hearing.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "app/play/synthesizer.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "base/log.h"
#include "data/synthesis/level.h"
#include "models/ear/ear_session.h"
#include "models/ear/grid.h"
#include "models/ear/notes.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
namespace ear = models::ear;

constexpr float kVoiced = 0.5F;
// Frames more than 40 dB below the loudest are breath and room.
constexpr double kQuiet = 1e-4;  // in energy

fs::path ear_folder(const fs::path& weights) { return models::weights_part(weights, "ear"); }

void require_ear(const fs::path& weights) {
  if (fs::exists(ear_folder(weights))) return;
  fail(ExitCode::kNoInput,
       weights.string() + ": these weights have no ear, the model that hears a voice",
       fmt::format("copy the folder ear of the released weights ({}) into them, or train one with "
                   "hum train ear; or let Basic Pitch hear: hum generate "
                   "--polyphonic, hum notes without --voice",
                   (data_folder() / "weights").string()));
}

// The share of the loud frames in which a voice sounds.
double voiced_share(std::span<const float> samples, const ear::Frames& frames) {
  std::vector<double> energy;
  for (int64_t t = 0; t < frames.size(); ++t) {
    const auto rest = samples.subspan(static_cast<size_t>(t * ear::kHop));
    double sum = 0;
    for (const float x : rest.first(std::min<size_t>(rest.size(), ear::kHop))) {
      sum += static_cast<double>(x) * x;
    }
    energy.push_back(sum);
  }
  const double loudest = energy.empty() ? 0 : std::ranges::max(energy);
  int64_t loud = 0, voiced = 0;
  for (size_t t = 0; t < energy.size(); ++t) {
    if (energy[t] <= kQuiet * loudest) continue;
    ++loud;
    if (frames.voiced[t] >= kVoiced) ++voiced;
  }
  return loud > 0 ? static_cast<double>(voiced) / static_cast<double>(loud) : 0;
}

// What the ear hears, with the singer's tuning and dynamics.
pipeline::HearFunction ear_function(std::shared_ptr<const ear::EarSession> model,
                                    HearProgress progress = {}) {
  return
      [model = std::move(model), progress = std::move(progress)](std::span<const float> samples) {
        const auto gain = static_cast<float>(data::level_gain(samples));
        const auto frames = model->listen(samples, gain, progress);
        const auto heard = ear::decode(frames);
        return pipeline::HeardVoice{
            .notes = data::velocity_from_rms(samples, ear::played_notes(frames, heard)),
            .tuning_cents = ear::mean_tuning_cents(heard),
            .voiced_share = voiced_share(samples, frames),
            .heard_by = "ear"};
      };
}

void warn_of_ignored(models::basic_pitch::NoteOptions notes) {
  models::basic_pitch::NoteOptions usual;
  usual.multiple_pitch_bends = notes.multiple_pitch_bends;  // of the MIDI file
  if (to_json(notes) == to_json(usual)) return;
  warn_once("basic pitch settings",
            "the ear hears this recording; --onset-threshold and the other settings of Basic Pitch "
            "have no effect");
}

}  // namespace

std::shared_ptr<const ear::EarSession> load_ear(runtime::Session& session,
                                                const fs::path& weights) {
  require_ear(weights);
  return std::make_shared<const ear::EarSession>(session, ear_folder(weights));
}

pipeline::HearFunction hear_function(runtime::Session& session, const fs::path& weights,
                                     const models::basic_pitch::NoteOptions& notes,
                                     const pipeline::HumOptions& hum,
                                     std::shared_ptr<const ear::EarSession> ear,
                                     HearProgress progress) {
  const bool is_tuned = hum.tuning == pipeline::Tuning::kAuto;
  if (hum.polyphonic) {
    auto hear = pipeline::as_transcribed(transcriber(session, notes, std::move(progress)));
    if (is_tuned) hear = pipeline::in_tune(std::move(hear));
    return pipeline::with_quality_warnings(std::move(hear), /*is_one_voice=*/false);
  }
  auto hear = ear_function(ear ? std::move(ear) : load_ear(session, weights), std::move(progress));
  warn_of_ignored(notes);
  if (!is_tuned) hear = pipeline::with_own_tuning(std::move(hear));
  return pipeline::with_quality_warnings(std::move(hear), /*is_one_voice=*/true);
}

pipeline::HearFunction item_hear_function(runtime::Session& session, const fs::path& weights) {
  return ear_function(load_ear(session, weights));
}

std::string item_heard_by(const fs::path& weights) {
  return "ear " + runtime::shards_sha256(ear_folder(weights));
}

}  // namespace hum::app
