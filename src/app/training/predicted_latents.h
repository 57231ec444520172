// Latents of the upsampler and the predictor for models that train on them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/training/token_data.h"

namespace hum::app {

MelodyNeeds needs_of(const models::humming::LatentPredictor& predictor);
// What two models need together.
MelodyNeeds both(const MelodyNeeds& a, const MelodyNeeds& b);

// Replaces the codec's latents by predicted ones in the first items of a batch, as the decoder gets
// them at generation. Draws for each item how many true books the upsampler knows; the drafts, of
// none, are the predictor's if the weights have one.
class PredictedLatents {
 public:
  // For a share of stage.predicted_share. `data` must outlive it.
  // Throws: kConfig for a share outside 0..1; what open_predictor throws.
  PredictedLatents(const InputRequest& request, const TokenData& data);

  void replace(const Draw& draw, data::VoiceBatch& batch) const;

 private:
  std::vector<int32_t> drawn_stages(const Draw& draw) const;
  // Replaces the latents of the items of stage 0.
  void use_drafts(const std::vector<int32_t>& stages, const ItemArrays& arrays,
                  runtime::HostTensor& latents) const;

  const TokenData& data_;
  int64_t batch_, items_;
  std::unique_ptr<const models::humming::LatentPredictor> upsampler_, predictor_;
  MelodyNeeds needs_;
};

}  // namespace hum::app
