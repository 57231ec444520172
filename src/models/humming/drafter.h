// The upsampler's stage 0 as a ready program: melody and timbre reference to draft latents, a batch
// at a time.
//
// B batch, T frames, S reference frames, D latent size, M melody features.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/session.h"

namespace hum::models::humming {

class Drafter {
 public:
  // Throws: kNoInput without weights, kBadData when they do not fit.
  Drafter(runtime::Session& session, const std::filesystem::path& upsampler_weights, int64_t batch,
          int64_t frames, int64_t reference_frames);

  // Shapes: melody [B,T,M], reference [B,S,D], reference_frames i32[B] -> [B,T,D].
  runtime::HostTensor draft(const runtime::HostTensor& melody, const runtime::HostTensor& reference,
                            const runtime::HostTensor& reference_frames) const;

 private:
  runtime::Session& session_;
  std::vector<runtime::Tensor> weights_;
  std::optional<runtime::Executable> program_;
};

}  // namespace hum::models::humming
