// Runs the humming models with their released weights on windows of 6 s: a draft, the coarse LM's
// tokens, the upsampler's latents, the guided decoder's sound. All lengths of melodies and numbers
// of windows use the same programs. For cutting, stitching and levels see pipeline/.
//
// T = kWindowFrames, D latent size, M melody features (config.h: kAllMelodyFeatures, or as many as
// the model reads), K coarse books, S = kReferenceFrames.
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

// The timbre reference as input of the models.
struct TimbreReference {
  std::vector<float> latents;  // [S, D]; rows past `frames` are zero
  int32_t frames = 0;
  // [S, M]: of the notes that it plays; empty: unknown, see needs_reference_melody().
  std::vector<float> melody = {};
};

// A window of a melody and its timbre reference; both must outlive the call.
struct Window {
  std::span<const float> melody;  // [T, M]
  const TimbreReference* timbre = nullptr;
  // Number of the window; windows of one seed draw tokens independently.
  int64_t seed = 1, number = 0;
  // 1..T; fewer frames take less time: the tokens of the first `frames` are the same, and the last
  // one repeats for the rest.
  int64_t frames = kWindowFrames;
};

// The input of the guided decoder. Shapes: [T, D], [T, M], [T 441], [T 441].
struct VoiceWindow {
  std::span<const float> latents, melody, excitation, noise;
};

// One vector per window.
using Rows = std::vector<std::vector<float>>;

// Thread-safe after construction. The session must outlive it. Compiles each program when it is
// first needed.
class HummingSession {
 public:
  // `weights`: the folder with voice/, upsampler/, coarse/ and, if it makes the drafts, predictor/;
  // reads each when it is first needed. With a predictor, drafts need no upsampler.
  HummingSession(runtime::Session& session, std::filesystem::path weights);
  ~HummingSession();

  // Reads what makes the drafts and the requested models now, so that damaged weights fail before
  // any work. The upsampler comes with the language model. Throws: kBadData also when the models do
  // not fit together.
  void load(bool language_model, bool voice) const;
  // Whether upsampler and coarse LM were trained on the tokens that the drafting model knows. Those
  // of another codec have the same sizes and mean other sounds.
  bool reads_same_tokens() const;
  // The shared sizes of the models, from the one that makes the drafts.
  const CommonConfig& common() const;
  // How long the excitation must outlast a note; reads the voice.
  double excitation_tail_s() const;
  // Whether drafts() and latents() throw kBadData for a timbre reference without its melody.
  bool needs_reference_melody() const;
  // Whether the model that drafts reads the age of a note only up to a second.
  bool loses_count_of_ages() const;
  // Converts codec tokens of one channel to its latents. Shapes: codes [frames, books of one
  // channel] -> [frames, D], with zeros in the place of a second channel.
  std::vector<float> code_latents(std::span<const int32_t> codes) const;
  // Converts codec tokens to latents, cut or padded to S frames. A reference is mono; with models
  // of two channels it takes the first one's place. Shapes: codes [frames, books of one channel].
  TimbreReference reference(std::span<const int32_t> codes) const;

  // Windows of a call share batches. Except for rounding, the result of one does not depend on the
  // others, because each has its own random stream.
  //
  // Runs stage 0 of the predictor or the upsampler. Shapes: n -> n of [T, D].
  Rows drafts(std::span<const Window> windows) const;
  // Samples tokens with the coarse LM. Uses each window's seed, not that of `sampling`. Shapes: n,
  // drafts n of [T, D] -> n of [T, K].
  std::vector<std::vector<int32_t>> tokens(std::span<const Window> windows, const Rows& drafts,
                                           const SamplingOptions& sampling) const;
  // Runs all three stages: draft, tokens, and the upsampler's latents, mixed with the draft's
  // share. Shapes: n -> n of [T, D].
  Rows latents(std::span<const Window> windows, const SamplingOptions& sampling) const;
  // Runs the guided decoder for one channel. Shapes: latents of one channel, n -> n of [T 441].
  Rows render(std::span<const VoiceWindow> windows) const;

  // One window's draft. Shapes: melody [T, M] -> [T, D].
  std::vector<float> draft(std::span<const float> melody, const TimbreReference& reference) const;
  // The coarse LM's teacher-forced logits of the first book, where each step sees the true tokens
  // before it. V is the vocabulary, including the start token. Shapes: tokens [T, K], melody [T,
  // M], draft [T, D] -> [T, V].
  std::vector<float> coarse_logits(std::span<const int32_t> tokens, std::span<const float> melody,
                                   std::span<const float> draft,
                                   const TimbreReference& reference) const;
  // The number of books that the coarse LM predicts, K.
  int64_t coarse_books() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::humming
