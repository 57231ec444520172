// Which of the models that predict latents makes the drafts.
#pragma once

#include <filesystem>

#include "base/enum_names.h"
#include "models/weights_folder.h"

namespace hum::models::humming {

// Named as their parts of a folder of weights.
enum class LatentModel { kUpsampler, kPredictor };
inline EnumNames<LatentModel> enum_names(LatentModel) {
  static constexpr std::pair<LatentModel, std::string_view> kNames[] = {
      {LatentModel::kUpsampler, "upsampler"}, {LatentModel::kPredictor, "predictor"}};
  return kNames;
}

inline bool has_part(const std::filesystem::path& weights, LatentModel model) {
  return std::filesystem::exists(weights_part(weights, to_name(model)));
}

// The predictor of a folder of weights, or the upsampler if it has none.
inline LatentModel draft_model(const std::filesystem::path& weights) {
  return has_part(weights, LatentModel::kPredictor) ? LatentModel::kPredictor
                                                    : LatentModel::kUpsampler;
}

}  // namespace hum::models::humming
