// Configuration of a codec: rates, sizes, quantizer. 22,050 Hz, 50 frames/s.
//
// A codec may be split. The first dims of its latents ("sound") come from the magnitudes of the
// spectrum and are coded by the first books; the last ones ("phase") come from the whole spectrum
// and are coded by the last books. Models that generate sound need the sound part alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bounds.h"
#include "base/fields.h"

namespace hum::models::codec {

enum class QuantizerKind {
  kEuclidean,  // full-size vectors, running means (van den Oord 2017; SoundStream)
  kCosine,     // 8-d factorised, l2-normalised lookup (Yu 2021; Kumar 2023, DAC)
};
inline EnumNames<QuantizerKind> enum_names(QuantizerKind) {
  static constexpr std::pair<QuantizerKind, std::string_view> kNames[] = {
      {QuantizerKind::kEuclidean, "euclidean"}, {QuantizerKind::kCosine, "cosine"}};
  return kNames;
}

inline constexpr int64_t kSampleRateHz = 22050;
inline constexpr int64_t kHopSamples = 441;
inline constexpr int64_t kFramesPerSecond = kSampleRateHz / kHopSamples;
// The decoder's own frame rate is three times the codec's.
inline constexpr int64_t kFineHopSamples = 147;
inline constexpr int64_t kFineRatio = kHopSamples / kFineHopSamples;
inline constexpr int64_t kLowWindowSamples = 4 * kHopSamples;

struct QuantizerConfig {
  QuantizerKind kind = QuantizerKind::kEuclidean;
  int64_t books = 8;
  int64_t entries = 1024;
  int64_t cosine_dim = 8;
  // Training steps before the quantizer is used.
  int64_t warm_up_steps = 300;
  double decay = 0.99;

  template <class V>
  void visit_fields(V& v) {
    v("kind", kind, "euclidean (running means) or cosine (8-d factorised)");
    v("books", books, "residual codebooks");
    v("entries", entries, "entries of each codebook");
    v("cosine_dim", cosine_dim, "lookup size of the cosine form");
    v("warm_up_steps", warm_up_steps, "training steps before the quantizer is used");
    v("decay", decay, "decay of the running codebook means per step");
  }
};

struct CodecConfig {
  int64_t latent = 64;
  // Of a split codec: the size of the phase part, its books among quantizer.books, and the size of
  // its encoder. 0, 0: not split, all is sound.
  int64_t phase_latent = 0, phase_books = 0;
  int64_t phase_width = 128, phase_blocks = 2;
  int64_t encoder_window_samples = 1323;
  int64_t encoder_width = 256;
  int64_t encoder_blocks = 5;
  int64_t decoder_width = 256;
  int64_t decoder_blocks = 5;
  int64_t fine_width = 192;
  int64_t fine_blocks = 3;
  int64_t fine_window_samples = 588;
  // The lowest bins of a second, longer window at 50 frames/s, added to the sound, because a window
  // of 27 ms holds less than two periods of the lowest notes, where its frames cancel.
  int64_t low_bins = 0;
  QuantizerConfig quantizer;
  // Weights of the training loss (nn/spectral_loss.h).
  double phase_weight = 0.1, balance_weight = 0.1, partials_weight = 0;
  double floor_db = 60;
  // Weight of the movement of the sound part under small shifts of the sound.
  double consistency_weight = 0;

  bool is_split() const { return phase_latent > 0; }
  int64_t sound_latent() const { return latent - phase_latent; }
  int64_t sound_books() const { return quantizer.books - phase_books; }

  template <class V>
  void visit_fields(V& v) {
    v("latent", latent, "size of a latent vector");
    v("phase_latent", phase_latent,
      "size of the latent's last part, which alone sees the phase of the wave (0: not split)");
    v("phase_books", phase_books, "the last codebooks, which code that part");
    v("phase_width", phase_width, "width of the phase encoder's blocks");
    v("phase_blocks", phase_blocks, "number of phase encoder blocks at 50 frames/s");
    v("encoder_window_samples", encoder_window_samples, "analysis window of the encoder");
    v("encoder_width", encoder_width, "width of the encoder's blocks");
    v("encoder_blocks", encoder_blocks, "number of encoder blocks at 50 frames/s");
    v("decoder_width", decoder_width, "width of the decoder's blocks at 50 frames/s");
    v("decoder_blocks", decoder_blocks, "number of decoder blocks at 50 frames/s");
    v("fine_width", fine_width, "width of the decoder's blocks at 150 frames/s");
    v("fine_blocks", fine_blocks, "number of decoder blocks at 150 frames/s");
    v("fine_window_samples", fine_window_samples, "synthesis window at 150 frames/s");
    v("low_bins", low_bins,
      "bins of 12.5 Hz from a window of 80 ms for the lowest notes (0: none)");
    v("quantizer", quantizer, "residual quantizer");
    v("phase_weight", phase_weight, "weight of the loss's phase term");
    v("partials_weight", partials_weight, "weight of the loss's levels of partials");
    v("balance_weight", balance_weight, "weight of the loss's balance of half-octaves");
    v("floor_db", floor_db, "levels this far below the clip's peak compare equal in the loss");
    v("consistency_weight", consistency_weight,
      "weight of the movement of the latent's sound part under shifts of 1 to 5 ms");
  }
};

// Throws: kConfig for sizes and shares that are out of range or do not fit each other.
void validate(const CodecConfig& config, const Bounds& bounds);

}  // namespace hum::models::codec
