#include "serve/api/preset_sounds.h"

#include <algorithm>
#include <filesystem>

#include "audio/notes_json.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/presets.h"
#include "serve/api/api_impl.h"
#include "serve/jobs/job_options.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCaller = "@presets";
constexpr double kSeconds = 3.5;
constexpr uint64_t kSeed = 20261125;
// To be changed with the melody or its options: sounds of another version are not found.
constexpr const char* kVersion = "v2";

std::string key_of(const std::string& preset) {
  return fmt::format("presets/{}/{}.wav", kVersion, preset);
}

const data::Preset* find(const std::string& name) {
  const auto found = std::ranges::find(data::presets(), name, &data::Preset::name);
  return found == data::presets().end() ? nullptr : &*found;
}

// A melody in the range of the preset.
Json melody_of(const data::Preset& preset) {
  const auto melody = data::make_melody(
      kSeed, 0, preset, {.seconds = kSeconds, .expressive_share = 0, .chord_share = 0});
  return audio::to_json(std::span<const audio::Note>(melody.notes));
}

}  // namespace

std::string PresetSounds::path(std::string_view preset) {
  return fmt::format("/v1/presets/{}/sound.wav", preset);
}

Acceptance PresetSounds::accept(const std::string& preset) {
  JobRequest job;
  job.id = new_id();
  job.caller = kCaller;
  JobOptions options;
  options.preset = preset;
  job.options = hum::to_json(options);
  job.notes = melody_of(*find(preset));
  return records_.accept(job, {}, IdempotencyKey{preset, kVersion});
}

Response PresetSounds::get(const std::string& preset) {
  if (find(preset) == nullptr) return problem(404, "there is no such preset");
  const std::string key = key_of(preset);
  if (const auto path = store_.find(key)) {
    Response response{.content_type = "audio/wav", .body = FileBody{*path, ""}};
    response.headers.set("Cache-Control", "private, max-age=86400");
    return response;
  }
  const Acceptance accepted = accept(preset);
  const auto job = records_.any_job(accepted.id);
  const auto sound = store_.find(result_key(accepted.id, "take-1.wav"));
  if (job && job->status == Status::kFailed) {
    // The job stays, so that the next one who asks does not start it again.
    return problem(500, "hum failed to play this preset",
                   {{"hint", job->error.value("detail", "")}});
  }
  if (job && job->status == Status::kDone && sound) {
    const fs::path copy = store_.aside() / (new_id() + ".wav");
    std::error_code gone;  // another request may be here too
    if (fs::copy_file(*sound, copy, gone)) {
      store_.put(key, copy);
      records_.remove_job(kCaller, accepted.id);
      store_.remove_all(job_prefix(accepted.id));
      return get(preset);
    }
  }
  Response later{.status = 202};
  later.headers.set("Retry-After", "1");
  return later;
}

}  // namespace hum::serve
