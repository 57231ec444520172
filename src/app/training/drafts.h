// Drafts of training items, for models that train on them.
#pragma once

#include <memory>
#include <optional>

#include "app/training/token_data.h"
#include "data/features/stored_latents.h"

namespace hum::app {

// The predictor's drafts of all items, which trainings hear again and again: in the data's folder
// (docs/formats/items.md), where the first training makes them. Throws what open_predictor throws.
data::StoredLatents stored_drafts(const InputRequest& request, const TokenData& data);

// Whole drafts of each batch's items. Those of a predictor are the stored ones, unless training
// replaces frames of the melody, which they would not know.
class Drafts {
 public:
  // Throws what open_predictor throws.
  Drafts(const InputRequest& request, const TokenData& data);

  // What of() reads.
  MelodyNeeds needs() const { return model_ ? needs_of(*model_) : MelodyNeeds{}; }
  // Shapes: -> [B, T, D].
  runtime::HostTensor of(const ItemArrays& arrays) const;

 private:
  std::optional<data::StoredLatents> stored_;
  std::unique_ptr<const models::humming::LatentPredictor> model_;  // else
};

}  // namespace hum::app
