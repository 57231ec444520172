// The codec with its released weights, ready to run: windows of 6 s to tokens and back.
//
// K books, D latent size; a window is kWindowSamples long.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/codec/codec.h"
#include "runtime/session.h"

namespace hum::models::codec {

inline constexpr int64_t kWindowFrames = 300;
inline constexpr int64_t kWindowSamples = kWindowFrames * kHopSamples;

// Thread-safe after construction. The session must outlive it. Programs are compiled when first
// needed.
class CodecSession {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's.
  CodecSession(runtime::Session& session, const std::filesystem::path& weights);
  ~CodecSession();

  const CodecConfig& config() const;
  // SHA-256 of encoder and quantizer: what gives tokens their meaning. Another decoder of the same
  // tokens leaves it as it is.
  const std::string& fingerprint() const;
  // Shapes: f32[K, entries, D], in the latent space whatever the quantizer's form.
  const runtime::HostTensor& codebooks() const;

  // Whole windows, one after another. Shapes: [n kWindowSamples] -> codes [n, kWindowFrames, K].
  std::vector<int32_t> encode_windows(std::span<const float> windows) const;
  // Continuous latents of one window's worth of frames. Shapes: [kWindowFrames, D] ->
  // [kWindowSamples].
  std::vector<float> decode_latents(std::span<const float> latents) const;

  // Any length: padded to whole frames, cut into windows that overlap by half a second on each
  // side. Shapes: samples [N] -> codes [ceil(N / 441), K].
  std::vector<int32_t> encode(std::span<const float> samples) const;
  // Shapes: codes [T, K] -> [T 441], using the first `books` books.
  std::vector<float> decode(std::span<const int32_t> codes, int64_t books) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::codec
