#include "app/training/drafts.h"

#include <algorithm>

#include "data/synthesis/timing.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {

using models::humming::draft_model;
using models::humming::LatentModel;
using models::humming::LatentPredictor;
using runtime::HostTensor;

namespace {

constexpr int64_t kDraftsPerCall = 16;

// Shapes: -> [last - first, kItemFrames, D].
std::vector<float> drafts_of(const LatentPredictor& predictor, const TokenData& data, int64_t first,
                             int64_t last) {
  const data::ItemOrder order(first, last - first, 0);
  const auto arrays =
      arrays_of(data::token_batch(data.items, data.tokens, order, 0, kDraftsPerCall, kDraftsPerCall,
                                  batch_options(needs_of(predictor))));
  const HostTensor predicted =
      predicted_latents(predictor, HostTensor({graph::DType::kI32, {kDraftsPerCall}}), arrays);
  const auto from = predicted.as<float>();
  const size_t size = from.size() / kDraftsPerCall;
  std::vector<float> drafts(static_cast<size_t>(last - first) * size);
  // Fewer items than a call has come more than once.
  for (size_t b = 0; b < kDraftsPerCall; ++b) {
    std::ranges::copy(from.subspan(b * size, size),
                      drafts.begin() + (arrays.items[b] - first) * static_cast<int64_t>(size));
  }
  return drafts;
}

}  // namespace

data::StoredLatents stored_drafts(const InputRequest& request, const TokenData& data) {
  const StageConfig& stage = request.configuration.stage;
  const auto key = [&](std::string_view part) {
    return runtime::shards_sha256(models::weights_part(weights_of(stage), part)).substr(0, 16);
  };
  std::unique_ptr<const LatentPredictor> predictor;  // opened if a file is missing
  return {std::filesystem::path(stage.data) / fmt::format("drafts-{}-{}-{}", key("predictor"),
                                                          key("codec"), data.items.fingerprint()),
          {.what = "drafts",
           .items = data.items.size(),
           .latent = data.tokens.latent(),
           .items_per_call = kDraftsPerCall},
          [&](int64_t first, int64_t last) {
            if (!predictor) {
              predictor = open_predictor(request, data, LatentModel::kPredictor, kDraftsPerCall);
            }
            return drafts_of(*predictor, data, first, last);
          }};
}

Drafts::Drafts(const InputRequest& request, const TokenData& data) {
  const StageConfig& stage = request.configuration.stage;
  const LatentModel kind = draft_model(weights_of(stage));
  if (kind == LatentModel::kPredictor && stage.token_replacement == 0) {
    stored_ = stored_drafts(request, data);
  } else {
    model_ = open_predictor(request, data, kind, stage.batch);
  }
}

HostTensor Drafts::of(const ItemArrays& arrays) const {
  if (model_) {
    const auto items = std::ssize(arrays.items);
    return predicted_latents(*model_, HostTensor({graph::DType::kI32, {items}}), arrays);
  }
  HostTensor drafts(arrays.latents.shape());
  const auto all = drafts.as<float>();
  const size_t size = all.size() / arrays.items.size();
  for (size_t b = 0; b < arrays.items.size(); ++b) {
    std::ranges::copy((*stored_)[arrays.items[b]], &all[b * size]);
  }
  return drafts;
}

}  // namespace hum::app
