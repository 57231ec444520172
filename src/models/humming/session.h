// The humming models with their released weights, ready to run on one window of 6 s: a draft, the
// coarse LM's tokens, the upsampler's latents, the guided decoder's sound. No length of melody
// compiles anything new. Not here: windows, stitching and levels (pipeline).
//
// T = kWindowFrames, D latent size, M melody features, K coarse books, S = kReferenceFrames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "models/humming/config.h"
#include "models/humming/sampling_options.h"
#include "runtime/session.h"

namespace hum::models::humming {

inline constexpr int64_t kWindowSamples = kWindowFrames * 441;
inline constexpr int64_t kReferenceFrames = 250;

// The timbre reference as the models see it.
struct TimbreReference {
  std::vector<float> latents;  // [S, D]; rows past `frames` are zero
  int32_t frames = 0;
};

// Thread-safe after construction. The session must outlive it. Programs are compiled when first
// needed.
class HummingSession {
 public:
  // `weights`: the folder that holds voice/, upsampler/ and coarse/; each is read when first
  // needed.
  HummingSession(runtime::Session& session, std::filesystem::path weights);
  ~HummingSession();

  // Reads the models now, so that damaged weights are noticed before any work: the upsampler, and
  // what is asked for.
  void load(bool language_model, bool voice) const;
  // Of the upsampler: what the three models share.
  const CommonConfig& common() const;
  // Codec tokens as latents, cut or padded to S frames. Shapes: codes [frames, books].
  TimbreReference reference(std::span<const int32_t> codes) const;

  // The upsampler's stage 0. Shapes: melody [T, M] -> [T, D].
  std::vector<float> draft(std::span<const float> melody, const TimbreReference& reference) const;
  // Shapes: melody [T, M], draft [T, D] -> [T, K]. `window`: its number; each draws by itself.
  // `frames`: stop after so many, which are the same as without stopping; the last one's tokens
  // stand for the rest. Time goes with it.
  std::vector<int32_t> coarse_tokens(std::span<const float> melody, std::span<const float> draft,
                                     const TimbreReference& reference,
                                     const SamplingOptions& sampling, int64_t window,
                                     int64_t frames = kWindowFrames) const;
  // What the coarse LM makes of the true tokens: logits of the first book, each step seeing the
  // true tokens before it. V is the vocabulary, start token included. Shapes: tokens [T, K], melody
  // [T, M], draft [T, D] -> [T, V].
  std::vector<float> coarse_logits(std::span<const int32_t> tokens, std::span<const float> melody,
                                   std::span<const float> draft,
                                   const TimbreReference& reference) const;
  // Books that the coarse LM predicts, K.
  int64_t coarse_books() const;
  // The upsampler's later stages: the likeliest tokens of the classified books one after another,
  // then the whole latent vector. Shapes: tokens [T, K] -> [T, D].
  std::vector<float> refine(std::span<const int32_t> tokens, std::span<const float> melody,
                            const TimbreReference& reference) const;
  // The guided decoder. Shapes: [T, D], [T, M], [T 441], [T 441] -> [T 441].
  std::vector<float> render(std::span<const float> latents, std::span<const float> melody,
                            std::span<const float> excitation, std::span<const float> noise) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::humming
