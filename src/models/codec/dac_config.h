// Configuration of a codec of Descript's topology: the arguments in its published weights.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fields.h"

namespace hum::models::codec {

// Defaults: the published 44.1 kHz model of 8 kbit/s.
struct DacConfig {
  int64_t encoder_dim = 64;
  std::vector<int64_t> encoder_rates = {2, 4, 8, 8};
  int64_t latent_dim = 0;
  int64_t decoder_dim = 1536;
  std::vector<int64_t> decoder_rates = {8, 8, 4, 2};
  int64_t n_codebooks = 9;
  int64_t codebook_size = 1024;
  int64_t codebook_dim = 8;
  int64_t sample_rate_hz = 44100;

  int64_t latent() const {
    return latent_dim > 0 ? latent_dim : encoder_dim << encoder_rates.size();
  }
  int64_t hop_samples() const {
    int64_t hop = 1;
    for (const int64_t rate : encoder_rates) hop *= rate;
    return hop;
  }

  // The names are those of the published files.
  template <class V>
  void visit_fields(V& v) {
    v("encoder_dim", encoder_dim, "channels before the encoder's first stride");
    v("encoder_rates", encoder_rates, "strides of the encoder's blocks");
    v("latent_dim", latent_dim, "size of a latent vector (0: encoder_dim, doubled by each block)");
    v("decoder_dim", decoder_dim, "channels before the decoder's first stride");
    v("decoder_rates", decoder_rates, "strides of the decoder's blocks");
    v("n_codebooks", n_codebooks, "residual codebooks");
    v("codebook_size", codebook_size, "entries of each codebook");
    v("codebook_dim", codebook_dim, "lookup size of the codebooks");
    v("sample_rate", sample_rate_hz, "sample rate in Hz");
  }
};

// Throws kConfig naming the field when a size is invalid.
void require_valid(const DacConfig& config);

}  // namespace hum::models::codec
