// Runs the codec with its released weights: windows of 6 s to tokens and back.
//
// K books, D latent size; of a split codec's sound part (config.h) the first k books and the first
// d dims, else k = K and d = D. A window is kWindowSamples long.
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

// Thread-safe after construction. The session must outlive it. Compiles each program when it is
// first needed.
class CodecSession {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's.
  CodecSession(runtime::Session& session, const std::filesystem::path& weights);
  ~CodecSession();

  const CodecConfig& config() const;
  // SHA-256 of encoder and quantizer, which define the meaning of tokens. Another decoder for the
  // same tokens does not change it.
  const std::string& fingerprint() const;
  // Shapes: f32[K, entries, D], in the latent space for either form of the quantizer.
  const runtime::HostTensor& codebooks() const;
  // Of the sound part, f32[k, entries, d].
  const runtime::HostTensor& sound_codebooks() const;

  // Encodes consecutive whole windows. Shapes: [n kWindowSamples] -> codes [n, kWindowFrames, K].
  std::vector<int32_t> encode_windows(std::span<const float> windows) const;
  // The continuous latents of consecutive whole windows, before the quantizer.
  // Shapes: [n kWindowSamples] -> [n, kWindowFrames, D].
  std::vector<float> window_latents(std::span<const float> windows) const;
  // Decodes the continuous latents of one window, or their sound part with a phase part of zeros.
  // Shapes: [kWindowFrames, D or d] -> [kWindowSamples].
  std::vector<float> decode_latents(std::span<const float> latents) const;

  // Encodes sound of any length: pads it to whole frames and splits it into windows with half a
  // second of context on each side. Shapes: samples [N] -> codes [ceil(N / 441), K].
  std::vector<int32_t> encode(std::span<const float> samples) const;
  // The same for the sound part. Shapes: [N] -> [ceil(N / 441), k].
  std::vector<int32_t> encode_sound(std::span<const float> samples) const;
  // Decodes the first `books` books. Shapes: codes [T, K] -> [T 441].
  std::vector<float> decode(std::span<const int32_t> codes, int64_t books) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::codec
