#include "eval/report/examples.h"

#include <fmt/format.h>

namespace hum::eval {
namespace {

constexpr size_t kClipsPerSplit = 2;

}  // namespace

Examples::Examples(const ReportFolder& folder, std::span<const TestClipPlan> plans)
    : folder_(folder) {
  for (const Split split : kSplits) {
    size_t chosen = 0;
    for (size_t i = 0; i < plans.size() && chosen < kClipsPerSplit; ++i) {
      if (plans[i].split != split) continue;
      clips_.insert(i);
      ++chosen;
    }
  }
}

void Examples::keep(size_t i, const TestClip& clip, const std::string& system,
                    std::span<const float> samples) {
  if (!clips_.contains(i)) return;
  const std::string heading = fmt::format("clip {}: {}, {}, {}", i, split_name(clip.plan.split),
                                          clip.plan.preset->name, data::mode_name(clip.plan.mode));
  const bool is_new = examples_.empty() || examples_.back()["title"] != heading;
  const size_t number = is_new ? 0 : examples_.back()["sounds"].size();
  add(heading, fmt::format("clip-{}-{}", i, number), system, samples, clip.notes);
}

void Examples::add(const std::string& heading, const std::string& file, const std::string& system,
                   std::span<const float> samples, std::span<const audio::Note> notes) {
  const std::string sound = "sounds/" + file + ".flac", picture = "pictures/" + file + ".png";
  folder_.write_sound(sound, samples);
  folder_.write_picture(picture, samples, notes);
  if (examples_.empty() || examples_.back()["title"] != heading) {
    examples_.push_back({{"title", heading}, {"sounds", Json::array()}});
  }
  examples_.back()["sounds"].push_back(
      {{"system", system}, {"sound", sound}, {"picture", picture}});
}

}  // namespace hum::eval
