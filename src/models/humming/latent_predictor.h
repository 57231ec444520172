// Runs an upsampler or a predictor on batches. Other models train on its latents in place of the
// codec's true ones.
//
// B batch, T frames, S reference frames, K books, D latent size, M melody features, as many as the
// upsampler reads or more.
#pragma once

#include <filesystem>

#include "models/humming/draft_model.h"
#include "models/humming/upsampler.h"
#include "models/stored_model.h"

namespace hum::models::humming {

class LatentPredictor {
 public:
  // `weights`: the folder with the model's part. Throws: kNoInput without it, kBadData when it does
  // not match.
  LatentPredictor(runtime::Session& session, const std::filesystem::path& weights,
                  LatentModel model, int64_t batch, int64_t frames, int64_t reference_frames);

  const CommonConfig& common() const { return upsampler_.model().config().common; }
  // Stage s of 0..last_stage() gets the first s true books; stage 0, the draft, gets none. A
  // predictor has no other.
  int64_t last_stage() const {
    return kind_ == LatentModel::kPredictor ? 0 : upsampler_.model().config().classified_books;
  }
  // Whether predict() needs the melody of the references.
  bool needs_reference_melody() const { return upsampler_.model().attends(); }

  // Shapes: stages i32[B], codes i32[B,T,K], melody [B,T,M], reference [B,S,D],
  // reference_frames i32[B], reference_melody [B,S,M] or null -> [B,T,D].
  runtime::HostTensor predict(const runtime::HostTensor& stages, const runtime::HostTensor& codes,
                              const runtime::HostTensor& melody,
                              const runtime::HostTensor& reference,
                              const runtime::HostTensor& reference_frames,
                              const runtime::HostTensor* reference_melody = nullptr) const;

 private:
  LatentModel kind_;
  StoredModel<Upsampler> upsampler_;
  runtime::Executable program_;
};

}  // namespace hum::models::humming
