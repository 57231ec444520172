#include "app/training/predicted_latents.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "data/synthesis/timing.h"

namespace hum::app {

using models::humming::draft_model;
using models::humming::LatentModel;
using runtime::HostTensor;

PredictedLatents::PredictedLatents(const InputRequest& request, const TokenData& data)
    : data_(data), batch_(request.configuration.stage.batch) {
  const StageConfig& stage = request.configuration.stage;
  items_ = std::lround(stage.predicted_share * static_cast<double>(batch_));
  if (items_ < 0 || items_ > batch_) {
    fail(ExitCode::kConfig,
         fmt::format("stage.predicted_share {} is outside 0..1", stage.predicted_share));
  }
  if (items_ == 0) return;
  const auto weights = weights_of(stage);
  if (draft_model(weights) == LatentModel::kPredictor) drafts_ = stored_drafts(request, data);
  if (drafts_ && !has_part(weights, LatentModel::kUpsampler)) return;
  upsampler_ = open_predictor(request, data, LatentModel::kUpsampler, items_);
  needs_ = needs_of(*upsampler_);
}

void PredictedLatents::replace(const Draw& draw, data::VoiceBatch& batch) const {
  if (items_ == 0) return;
  const auto stages = drawn_stages(draw);
  HostTensor latents({graph::DType::kF32, {items_, data::kItemFrames, data_.tokens.latent()}});
  if (upsampler_) {
    const auto arrays = arrays_of(data::token_batch(
        data_.items, data_.tokens, draw.order, draw.step, batch_, items_, batch_options(needs_)));
    latents = predicted_latents(*upsampler_,
                                HostTensor::of({items_}, std::span<const int32_t>(stages)), arrays);
  }
  const auto all = latents.as<float>();
  const size_t size = all.size() / stages.size();
  for (size_t b = 0; drafts_ && b < stages.size(); ++b) {
    if (stages[b] == 0) std::ranges::copy((*drafts_)[batch.items[b]], &all[b * size]);
  }
  data::replace_latents(batch, all, items_, data_.tokens.channels());
}

std::vector<int32_t> PredictedLatents::drawn_stages(const Draw& draw) const {
  Rng rng(draw.seed, "predicted latents", static_cast<uint64_t>(draw.step));
  const int64_t last = upsampler_ ? upsampler_->last_stage() : 0;
  std::vector<int32_t> stages;
  for (int64_t b = 0; b < items_; ++b) stages.push_back(static_cast<int32_t>(rng.integer(0, last)));
  return stages;
}

}  // namespace hum::app
