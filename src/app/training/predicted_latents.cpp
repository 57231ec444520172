#include "app/training/predicted_latents.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace hum::app {

using models::humming::draft_model;
using models::humming::LatentModel;
using models::humming::LatentPredictor;
using runtime::HostTensor;

MelodyNeeds needs_of(const LatentPredictor& predictor) {
  return {predictor.common().melody_features, predictor.needs_reference_melody()};
}

MelodyNeeds both(const MelodyNeeds& a, const MelodyNeeds& b) {
  return {std::max(a.features, b.features), a.of_references || b.of_references};
}

PredictedLatents::PredictedLatents(const InputRequest& request, const TokenData& data)
    : data_(data), batch_(request.configuration.stage.batch) {
  const StageConfig& stage = request.configuration.stage;
  items_ = std::lround(stage.predicted_share * static_cast<double>(batch_));
  if (items_ < 0 || items_ > batch_) {
    fail(ExitCode::kConfig,
         fmt::format("stage.predicted_share {} is outside 0..1", stage.predicted_share));
  }
  if (items_ == 0) return;
  upsampler_ = open_predictor(request, data, LatentModel::kUpsampler, items_);
  needs_ = needs_of(*upsampler_);
  if (draft_model(weights_of(stage)) == LatentModel::kUpsampler) return;
  predictor_ = open_predictor(request, data, LatentModel::kPredictor, items_);
  needs_ = both(needs_, needs_of(*predictor_));
}

void PredictedLatents::replace(const Draw& draw, data::VoiceBatch& batch) const {
  if (items_ == 0) return;
  const auto arrays =
      arrays_of(data::token_batch(data_.items, data_.tokens, draw.order, draw.step, batch_, items_,
                                  {.melody_columns = static_cast<int>(needs_.features),
                                   .has_reference_melody = needs_.of_references}));
  const auto stages = drawn_stages(draw);
  auto latents = predicted_latents(
      *upsampler_, HostTensor::of({items_}, std::span<const int32_t>(stages)), arrays);
  if (predictor_) use_drafts(stages, arrays, latents);
  data::replace_latents(batch, latents.as<float>(), items_, data_.tokens.channels());
}

std::vector<int32_t> PredictedLatents::drawn_stages(const Draw& draw) const {
  Rng rng(draw.seed, "predicted latents", static_cast<uint64_t>(draw.step));
  std::vector<int32_t> stages;
  for (int64_t b = 0; b < items_; ++b) {
    stages.push_back(static_cast<int32_t>(rng.integer(0, upsampler_->last_stage())));
  }
  return stages;
}

void PredictedLatents::use_drafts(const std::vector<int32_t>& stages, const ItemArrays& arrays,
                                  HostTensor& latents) const {
  const HostTensor drafts =
      predicted_latents(*predictor_, HostTensor({graph::DType::kI32, {items_}}), arrays);
  const auto from = drafts.as<float>();
  const size_t size = from.size() / stages.size();
  for (size_t b = 0; b < stages.size(); ++b) {
    if (stages[b] != 0) continue;
    std::ranges::copy(from.subspan(b * size, size),
                      latents.as<float>().begin() + static_cast<std::ptrdiff_t>(b * size));
  }
}

}  // namespace hum::app
