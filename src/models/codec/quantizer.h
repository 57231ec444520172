// Residual vector quantizer: each book codes the residual of the books before it.
//
// B batch, T frames, D latent size, K books, N = B*T vectors.
#pragma once

#include <utility>
#include <vector>

#include "models/codec/config.h"
#include "nn/layers.h"
#include "nn/model_spec.h"

namespace hum::models::codec {

using graph::Value;

// The number of books that each item keeps. In training 1 with p = 1/4, 2..books with p = 1/4, the
// sound's books alone with p = 1/8 if there are others, else all; in validation all.
// Shapes: -> f32[B].
Value kept_books(int64_t batch, int64_t sound_books, int64_t books, const nn::StepInputs& step);

class ResidualQuantizer {
 public:
  ResidualQuantizer() = default;
  ResidualQuantizer(const nn::Scope& scope, const QuantizerConfig& config, int64_t latent);

  struct Training {
    // Quantised latents; gradients pass straight through to the input.
    Value latents_BTD;
    // Commitment (and, for the cosine form, codebook) loss.
    Value loss;
    std::vector<std::pair<Value, Value>> buffer_updates;
    // Mean share of entries in use, over books.
    Value usage;
  };
  // Each item is quantised by the first `kept` books. Before warm_up_steps the latents pass
  // unquantised, but the codebooks already follow them. Shapes: kept_B f32, 0 or less: none.
  Training train(const Value& latents_BTD, const Value& kept_B, const nn::StepInputs& step) const;

  // Shapes: latents_BTD -> i32[B,T,K].
  Value encode(const Value& latents_BTD) const;
  // The sum of the first `books` code vectors. Shapes: codes i32[B,T,>=books] -> BTD.
  Value decode(const Value& codes_BTK, int64_t books) const;
  // One book's code vectors for its codes. Shapes: i32[...] -> [..., D].
  Value lookup(int64_t book, const Value& codes) const;

 private:
  struct Book {
    Value codebook, counts,
        sums;            // euclidean: buffers [E,D], [E], [E,D]; cosine: trainable [E,d] only
    nn::Linear in, out;  // cosine: D -> d -> D
  };
  // Nearest entries of a book. Shapes: residual_ND -> i32[N].
  Value nearest(const Book& book, const Value& residual_ND) const;
  Value vectors(const Book& book, const Value& codes_N) const;
  void follow(const Book& book, const Value& residual_ND, const Value& codes_N, int64_t index,
              const nn::StepInputs& step, Training& training) const;

  QuantizerConfig config_;
  int64_t latent_ = 0;
  std::vector<Book> books_;
};

}  // namespace hum::models::codec
