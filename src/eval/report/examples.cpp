#include "eval/report/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audio/low_pass.h"
#include "data/synthesis/timing.h"
#include "eval/harness/evaluation.h"
#include "eval/listening/mushra.h"

namespace hum::eval {
namespace {

constexpr double kLevel_lufs = -23;  // EBU R 128
constexpr double kMaxTruePeak_dbtp = -1;

}  // namespace

void Examples::keep(size_t i, const TestClip& clip, const std::string& system,
                    std::span<const float> samples) {
  if (i >= kExampleClips) return;
  const std::string heading = fmt::format("clip {}: {}, {}, {}", i, split_name(clip.plan.split),
                                          clip.plan.preset->name, data::mode_name(clip.plan.mode));
  const auto add_next = [&](const std::string& name, std::span<const float> sound) {
    const bool is_new = examples_.empty() || examples_.back()["title"] != heading;
    const size_t number = is_new ? 0 : examples_.back()["sounds"].size();
    add(heading, fmt::format("clip-{}-{}", i, number), name, sound, clip.notes);
  };
  add_next(system, samples);
  if (system != true_rendering().name) return;
  for (const Anchor& anchor : kAnchors) {
    add_next(std::string(anchor.name),
             audio::low_pass(samples, data::kSampleRate, anchor.cutoff_hz));
  }
}

void Examples::add(const std::string& heading, const std::string& file, const std::string& system,
                   std::span<const float> samples, std::span<const audio::Note> notes) {
  const std::string sound = "sounds/" + file, picture = "pictures/" + file + ".png";
  const SoundLevel level = folder_.write_sound(sound, samples);
  folder_.write_picture(picture, samples, notes);
  if (examples_.empty() || examples_.back()["title"] != heading) {
    examples_.push_back(
        {{"title", heading}, {"level_lufs", kLevel_lufs}, {"sounds", Json::array()}});
  }
  Json& example = examples_.back();
  if (std::isfinite(level.lufs)) {
    const double highest_lufs = level.lufs + kMaxTruePeak_dbtp - level.true_peak_dbtp;
    example["level_lufs"] = std::min(example["level_lufs"].get<double>(), highest_lufs);
  }
  example["sounds"].push_back({{"system", system},
                               {"sound", sound + ".flac"},
                               {"picture", picture},
                               {"lufs", std::isfinite(level.lufs) ? Json(level.lufs) : Json()}});
}

}  // namespace hum::eval
