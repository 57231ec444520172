// Training items with the codec's tokens, and the arrays made from them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/training/inputs.h"
#include "data/features/batches.h"
#include "models/humming/config.h"
#include "models/humming/latent_predictor.h"

namespace hum::app {

// The items of a stage: those that it trains on and, at the end of the data, those held out. The
// held-out order does not depend on the seed of the run.
struct ItemSplit {
  data::ItemOrder training;
  std::optional<data::ItemOrder> held_out;
  // Held-out batches without an item twice, at least one.
  int64_t held_out_batches = 0;
};
// Throws: kBadData when too few items are left to train on.
ItemSplit split_items(int64_t items, const StageConfig& stage);

// One batch to make: the items of `order` from position step * batch.
struct Draw {
  const data::ItemOrder& order;
  uint64_t seed = 0;  // of crops and augmentation
  int64_t step = 0;
  bool is_training = true;  // false: without token replacement
};
// `draw` as the batches of training and those of validation.
OpenedInput opened(const StageConfig& stage, const ItemSplit& split,
                   const std::function<std::vector<runtime::HostTensor>(const Draw&)>& draw);

struct TokenData {
  data::ItemFolder items;
  data::TokenTable tokens;
  ItemSplit split;
  // [K, E, D] of all channels together.
  runtime::HostTensor codebooks;
  std::optional<data::StoredLatents> phase_free;  // if they are the stage's targets
};
// Throws: kConfig for phase-free targets of a model that does not train the draft alone.
std::shared_ptr<const TokenData> open_tokens(const InputRequest& request,
                                             const models::humming::CommonConfig& common);

// The codec's tokens and latents according to the model's configuration, and its melody features.
// Throws: kConfig if hum has no such set of features.
models::humming::CommonConfig common_of(const models::AnyModel& model);
// `config`: of a model, or of one that a model consists of.
models::humming::CommonConfig common_of(const Json& config);
// Throws: kConfig when the channels, books or latents of `whose` differ from the data's.
void require_fits(const TokenData& data, const models::humming::CommonConfig& common,
                  const std::string& whose);

// Opens a model of the weights that a stage builds on, for `items` items at a time. Throws what
// require_fits throws.
std::unique_ptr<const models::humming::LatentPredictor> open_predictor(
    const InputRequest& request, const TokenData& data, models::humming::LatentModel model,
    int64_t items);

struct ItemArrays {
  std::vector<int64_t> items;
  runtime::HostTensor codes, latents, melody, reference, reference_frames;
  std::optional<runtime::HostTensor> reference_melody = {};
};
ItemArrays arrays_of(const data::TokenBatch& batch);
// What models read of melodies.
struct MelodyNeeds {
  int64_t features = data::kMelodyFeatures;  // of those that read most
  bool of_references = false;
};
MelodyNeeds needs_of(const models::humming::LatentPredictor& predictor);
// What two models need together.
MelodyNeeds both(const MelodyNeeds& a, const MelodyNeeds& b);
// Of batches that have it, without augmentation.
data::TokenBatchOptions batch_options(const MelodyNeeds& melody);
// Reads the whole items of a batch, with the stage's targets; in training with its augmentation.
ItemArrays item_arrays(const TokenData& data, const StageConfig& stage, const Draw& draw,
                       const MelodyNeeds& melody);
// The model's latents of these items. Shapes: stages i32[B] -> [B, T, D].
runtime::HostTensor predicted_latents(const models::humming::LatentPredictor& predictor,
                                      const runtime::HostTensor& stages, const ItemArrays& arrays);
runtime::NamedTensors named(ItemArrays arrays);

// The codec's code vectors, for models that decode tokens and keep them in a buffer; else empty.
std::vector<train::NamedTensor> codebooks_for(const models::AnyModel& model, const TokenData& data);

}  // namespace hum::app
