// Training items with the codec's tokens, and the arrays made from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/training/inputs.h"
#include "data/features/batches.h"
#include "models/humming/config.h"
#include "models/humming/latent_predictor.h"

namespace hum::app {

// The order of a stage's items, without the held-out ones. Throws: kBadData when too few are left.
data::ItemOrder training_order(int64_t items, const StageConfig& stage);

struct TokenData {
  data::ItemFolder items;
  data::TokenTable tokens;
  data::ItemOrder order;
  // [K, E, D] of all channels together.
  runtime::HostTensor codebooks;
};
std::shared_ptr<const TokenData> open_tokens(const InputRequest& request);

// The codec's tokens and latents according to the model's configuration.
models::humming::CommonConfig common_of(const models::AnyModel& model);
// Throws: kConfig when the channels, books or latents of `whose` differ from the data's.
void require_fits(const TokenData& data, const models::humming::CommonConfig& common,
                  const std::string& whose);

// Opens the upsampler of the weights that a stage builds on, for `items` items at a time. Throws
// what require_fits throws.
std::unique_ptr<const models::humming::LatentPredictor> open_upsampler(const InputRequest& request,
                                                                       const TokenData& data,
                                                                       int64_t items);

struct ItemArrays {
  runtime::HostTensor codes, latents, melody, reference, reference_frames;
};
ItemArrays arrays_of(const data::TokenBatch& batch);
// Reads the whole items of a step's batch, with the stage's augmentation.
ItemArrays item_arrays(const TokenData& data, const StageConfig& stage, int64_t step);
runtime::NamedTensors named(ItemArrays arrays);

// The codec's code vectors, for models that decode tokens and keep them in a buffer; else empty.
std::vector<train::NamedTensor> codebooks_for(const models::AnyModel& model, const TokenData& data);

}  // namespace hum::app
