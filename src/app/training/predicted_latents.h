// Latents of the upsampler and the predictor for models that train on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/training/drafts.h"

namespace hum::app {

// Replaces the codec's latents by predicted ones in the first items of a batch, as the decoder gets
// them at generation. Draws for each item how many true books the upsampler knows; the drafts, of
// none, are the predictor's if the weights have one. Without an upsampler, all are drafts.
class PredictedLatents {
 public:
  // For a share of stage.predicted_share. `data` must outlive it.
  // Throws: kConfig for a share outside 0..1; what open_predictor throws.
  PredictedLatents(const InputRequest& request, const TokenData& data);

  // `batch`: of the items of the draw.
  void replace(const Draw& draw, data::VoiceBatch& batch) const;

 private:
  std::vector<int32_t> drawn_stages(const Draw& draw) const;

  const TokenData& data_;
  int64_t batch_, items_;
  std::unique_ptr<const models::humming::LatentPredictor> upsampler_;
  std::optional<data::StoredLatents> drafts_;
  MelodyNeeds needs_;  // of the upsampler
};

}  // namespace hum::app
