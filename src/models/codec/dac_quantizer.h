// The residual quantizer of Descript's codec: each book projects the residual of the books before
// it to a few dimensions, takes the entry nearest in angle, and projects it back.
//
// B batch, T frames, D latent size, d lookup size, K books.
// Source: Yu et al. 2021, "Vector-quantized image modeling with improved VQGAN";
// descript-audio-codec 1.0.0, dac/nn/quantize.py.
#pragma once

#include <vector>

#include "models/codec/dac_config.h"
#include "models/codec/dac_layers.h"

namespace hum::models::codec {

class DacQuantizer {
 public:
  DacQuantizer() = default;
  DacQuantizer(const nn::Scope& scope, DacWeights weights, const DacConfig& config);

  struct Quantised {
    // Gradients pass straight through each lookup to its projection.
    Value latents_BTD;
    // i32.
    Value codes_BTK;
    // The projections to look up, book by book. Shapes: [B, T, K d].
    Value projected_BTL;
    // Mean squared distances, summed over books: they draw projections to entries, and entries to
    // projections.
    Value commitment_loss, codebook_loss;
  };
  // Quantises with the first `books` books. Throws: more books than there are.
  Quantised quantise(const Value& latents_BTD, int64_t books) const;
  Quantised quantise(const Value& latents_BTD) const {
    return quantise(latents_BTD, static_cast<int64_t>(books_.size()));
  }

  // The sum of the code vectors of as many books as the codes have.
  // Shapes: i32[B, T, <= K] -> BTD.
  Value decode(const Value& codes_BTK) const;

 private:
  struct Book {
    DacConv in, out;
    Value codebook_Ed;
  };
  std::vector<Book> books_;
};

}  // namespace hum::models::codec
