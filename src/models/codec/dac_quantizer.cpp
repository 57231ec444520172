#include "models/codec/dac_quantizer.h"

#include "base/error.h"
#include "kernels/matmul/matmul.h"

namespace hum::models::codec {

using graph::stop_gradient;

namespace {

// Vectors of the last dim scaled to unit length.
Value unit_vectors(const Value& x) {
  const Value norm = graph::sqrt(graph::reduce_sum(x * x, {-1}, /*keepdims=*/true));
  return x / graph::maximum(norm, 1e-12);
}

// Shapes: projected_BTd, codebook_Ed -> i32[B, T].
Value nearest(const Value& projected_BTd, const Value& codebook_Ed) {
  const Value similarity_BTE = kernels::matmul(unit_vectors(projected_BTd),
                                               unit_vectors(codebook_Ed), {.transpose_rhs = true});
  return graph::argmax(similarity_BTE, 2);
}

Value mean_square(const Value& x) { return graph::mean_all(x * x); }

Value plus(const Value& sum, const Value& x) { return sum ? sum + x : x; }

}  // namespace

DacQuantizer::DacQuantizer(const nn::Scope& scope, DacWeights weights, const DacConfig& config) {
  for (int64_t k = 0; k < config.n_codebooks; ++k) {
    const nn::Scope book = scope.child("quantizers", k);
    books_.push_back(
        {.in = DacConv(book.child("in_proj"), weights, config.latent(), config.codebook_dim),
         .out = DacConv(book.child("out_proj"), weights, config.codebook_dim, config.latent()),
         .codebook_Ed = book.declare("codebook.weight", {config.codebook_size, config.codebook_dim},
                                     nn::Init::normal(1))});
  }
}

DacQuantizer::Quantised DacQuantizer::quantise(const Value& latents_BTD, int64_t books) const {
  HUM_REQUIRE(books >= 1 && books <= static_cast<int64_t>(books_.size()),
              "quantise: {} books of {}", books, books_.size());
  Quantised result;
  graph::Values codes, projections;
  Value residual = latents_BTD;
  for (const Book& book : std::span(books_).first(static_cast<size_t>(books))) {
    const Value projected = book.in(residual, DacEdges::kPadded);
    const Value code_BT = nearest(stop_gradient(projected), stop_gradient(book.codebook_Ed));
    const Value entry = graph::take(book.codebook_Ed, code_BT);
    const Value passed = projected + stop_gradient(entry - projected);
    const Value vector = book.out(passed, DacEdges::kPadded);
    result.latents_BTD = plus(result.latents_BTD, vector);
    result.commitment_loss =
        plus(result.commitment_loss, mean_square(projected - stop_gradient(entry)));
    result.codebook_loss =
        plus(result.codebook_loss, mean_square(entry - stop_gradient(projected)));
    residual = residual - vector;
    codes.push_back(code_BT);
    projections.push_back(projected);
  }
  result.codes_BTK = graph::stack(codes, 2);
  result.projected_BTL = graph::concatenate(projections, 2);
  return result;
}

Value DacQuantizer::decode(const Value& codes_BTK) const {
  const int64_t books = codes_BTK.size(2);
  HUM_REQUIRE(books >= 1 && books <= static_cast<int64_t>(books_.size()),
              "decode: codes {} of {} books", codes_BTK.shape(), books_.size());
  Value sum;
  for (int64_t k = 0; k < books; ++k) {
    const Book& book = books_[static_cast<size_t>(k)];
    const Value code_BT = graph::squeeze(graph::slice_in_dim(codes_BTK, 2, k, k + 1), {2});
    sum = plus(sum, book.out(graph::take(book.codebook_Ed, code_BT), DacEdges::kPadded));
  }
  return sum;
}

}  // namespace hum::models::codec
