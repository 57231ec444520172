// The humming models with their released weights, ready to run on windows of 6 s: a draft, the
// coarse LM's tokens, the upsampler's latents, the guided decoder's sound. Neither length of melody
// nor number of windows compiles anything new. Not here: cutting, stitching and levels (pipeline).
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

// A window of a melody and what plays it; both must outlive the call that it is for.
struct Window {
  std::span<const float> melody;  // [T, M]
  const TimbreReference* timbre = nullptr;
  // Of its tokens: each window of a seed draws by itself.
  int64_t seed = 1, number = 0;
  // 1..T, fewer take less time: the tokens of the first `frames` are the same, the last one's stand
  // for the rest.
  int64_t frames = kWindowFrames;
};

// What the guided decoder takes. Shapes: [T, D], [T, M], [T 441], [T 441].
struct VoiceWindow {
  std::span<const float> latents, melody, excitation, noise;
};

// One vector a window.
using Rows = std::vector<std::vector<float>>;

// Thread-safe after construction. The session must outlive it. Programs are compiled when first
// needed.
class HummingSession {
 public:
  // `weights`: the folder that holds voice/, upsampler/ and coarse/; each is read when first
  // needed.
  HummingSession(runtime::Session& session, std::filesystem::path weights);
  ~HummingSession();

  // Reads the models now, so that damaged weights are noticed before any work: the upsampler, and
  // what is asked for. Throws: kBadData also when they do not belong together.
  void load(bool language_model, bool voice) const;
  // Of the upsampler: what the three models share.
  const CommonConfig& common() const;
  // Codec tokens as latents, cut or padded to S frames. A reference is mono: with models of two
  // channels it stands in the first one's place. Shapes: codes [frames, books of one channel].
  TimbreReference reference(std::span<const int32_t> codes) const;

  // Windows of a call share batches; what comes of one does not depend on the others, but for
  // rounding: tokens are drawn from streams of their own.
  //
  // The upsampler's stage 0. Shapes: n -> n of [T, D].
  Rows drafts(std::span<const Window> windows) const;
  // Tokens of the coarse LM. The seed is each window's, not that of `sampling`. Shapes: n, drafts n
  // of [T, D] -> n of [T, K].
  std::vector<std::vector<int32_t>> tokens(std::span<const Window> windows, const Rows& drafts,
                                           const SamplingOptions& sampling) const;
  // All three stages: draft, tokens, the upsampler's latents, of which the draft makes up its share
  // again. Shapes: n -> n of [T, D].
  Rows latents(std::span<const Window> windows, const SamplingOptions& sampling) const;
  // The guided decoder, of one channel. Shapes: latents of one channel, n -> n of [T 441].
  Rows render(std::span<const VoiceWindow> windows) const;

  // One window's draft. Shapes: melody [T, M] -> [T, D].
  std::vector<float> draft(std::span<const float> melody, const TimbreReference& reference) const;
  // What the coarse LM makes of the true tokens: logits of the first book, each step seeing the
  // true tokens before it. V is the vocabulary, start token included. Shapes: tokens [T, K], melody
  // [T, M], draft [T, D] -> [T, V].
  std::vector<float> coarse_logits(std::span<const int32_t> tokens, std::span<const float> melody,
                                   std::span<const float> draft,
                                   const TimbreReference& reference) const;
  // Books that the coarse LM predicts, K.
  int64_t coarse_books() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::humming
