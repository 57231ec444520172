#include "models/codec/quantizer.h"

#include "base/error.h"
#include "kernels/matmul/matmul.h"
#include "kernels/nearest_rows/nearest_rows.h"

namespace hum::models::codec {

using graph::convert;
using graph::DType;
using graph::stop_gradient;

namespace {

// Rows scaled to unit length.
Value unit_rows(const Value& x_ND) {
  return x_ND * graph::rsqrt(graph::reduce_sum(x_ND * x_ND, {1}, /*keepdims=*/true) + 1e-8);
}

Value mean_square(const Value& x) { return graph::mean_all(x * x); }

}  // namespace

Value kept_books(int64_t batch, int64_t sound_books, int64_t books, const nn::StepInputs& step) {
  const Value u_B = graph::uniform({DType::kF32, {batch}}, graph::fold_in(step.key, 1000));
  const Value zeros_B = graph::zeros_like(u_B);
  const Value all_B = zeros_B + static_cast<double>(books);
  if (!step.is_training) return all_B;
  const Value some_B = graph::floor((u_B - 0.25) * (4 * static_cast<double>(books - 1))) + 2;
  Value rest_B = all_B;
  if (sound_books < books) {
    rest_B = graph::select(u_B < 0.625, zeros_B + static_cast<double>(sound_books), all_B);
  }
  return graph::select(u_B < 0.25, zeros_B + 1.0, graph::select(u_B < 0.5, some_B, rest_B));
}

ResidualQuantizer::ResidualQuantizer(const nn::Scope& scope, const QuantizerConfig& config,
                                     int64_t latent)
    : config_(config), latent_(latent) {
  for (int64_t k = 0; k < config.books; ++k) {
    const nn::Scope book_scope = scope.child("books", k);
    Book book;
    if (config.kind == QuantizerKind::kEuclidean) {
      book.codebook =
          book_scope.declare_buffer("codebook", {config.entries, latent}, nn::Init::normal(1e-3));
      book.counts = book_scope.declare_buffer("counts", {config.entries}, nn::Init::zeros());
      book.sums = book_scope.declare_buffer("sums", {config.entries, latent}, nn::Init::zeros());
    } else {
      book.codebook =
          book_scope.declare("codebook", {config.entries, config.cosine_dim}, nn::Init::normal(1));
      book.in = nn::Linear(book_scope.child("in_proj"), latent, config.cosine_dim);
      book.out = nn::Linear(book_scope.child("out_proj"), config.cosine_dim, latent);
    }
    books_.push_back(book);
  }
}

Value ResidualQuantizer::nearest(const Book& book, const Value& residual_ND) const {
  if (config_.kind == QuantizerKind::kCosine) {
    const Value similarity = kernels::matmul(unit_rows(book.in(residual_ND)),
                                             unit_rows(book.codebook), {.transpose_rhs = true});
    return graph::argmax(similarity, 1);
  }
  const Value half_norms = graph::reduce_sum(book.codebook * book.codebook, {1}) * 0.5;
  return kernels::nearest_rows(residual_ND, book.codebook, half_norms);
}

Value ResidualQuantizer::vectors(const Book& book, const Value& codes_N) const {
  const Value rows = graph::take(book.codebook, codes_N);
  return config_.kind == QuantizerKind::kCosine ? book.out(rows) : rows;
}

Value ResidualQuantizer::lookup(int64_t book, const Value& codes) const {
  graph::Dims dims = codes.dims();
  dims.push_back(latent_);
  const Value flat = graph::reshape(codes, {codes.shape().elements()});
  return graph::reshape(vectors(books_.at(static_cast<size_t>(book)), flat), dims);
}

// Running means of the vectors that chose each entry; an entry that stays unused moves to a vector
// of the batch. Empty books start the same way.
void ResidualQuantizer::follow(const Book& book, const Value& residual_ND, const Value& codes_N,
                               int64_t index, const nn::StepInputs& step,
                               Training& training) const {
  const int64_t entries = config_.entries, count = residual_ND.size(0);
  const double fair_share = static_cast<double>(count) / static_cast<double>(entries);
  const Value ones_N = graph::constant(1, {DType::kF32, {count}});
  const Value chosen_E = graph::scatter_add(graph::zeros_like(book.counts), codes_N, ones_N);
  const Value chosen_ED = graph::scatter_add(graph::zeros_like(book.sums), codes_N, residual_ND);
  const Value counts = book.counts * config_.decay + chosen_E * (1 - config_.decay);
  const Value sums = book.sums * config_.decay + chosen_ED * (1 - config_.decay);

  const Value alive_E = counts > 0.1 * fair_share;
  const Value key = graph::fold_in(step.key, index);
  const Value draw_E = graph::uniform({DType::kF32, {entries}}, key) * static_cast<double>(count);
  const Value newcomers_ED = graph::take(residual_ND, convert(draw_E, DType::kI32));
  const Value alive_E1 = graph::reshape(alive_E, {entries, 1});
  const Value counts_E1 = graph::reshape(graph::maximum(counts, 1e-6), {entries, 1});
  const Value codebook = graph::select(alive_E1, sums / counts_E1, newcomers_ED);
  const Value new_counts = graph::select(alive_E, counts, graph::zeros_like(counts) + fair_share);
  training.buffer_updates.emplace_back(book.codebook, codebook);
  training.buffer_updates.emplace_back(book.counts, new_counts);
  training.buffer_updates.emplace_back(book.sums,
                                       graph::select(alive_E1, sums, newcomers_ED * fair_share));
  const Value usage = graph::mean_all(convert(chosen_E > 0, DType::kF32));
  training.usage = training.usage ? training.usage + usage : usage;
}

ResidualQuantizer::Training ResidualQuantizer::train(const Value& latents_BTD, const Value& kept_B,
                                                     const nn::StepInputs& step) const {
  const int64_t batch = latents_BTD.size(0), frames = latents_BTD.size(1);
  const Value z = graph::reshape(latents_BTD, {batch * frames, latent_});
  const bool euclidean = config_.kind == QuantizerKind::kEuclidean;
  const double books = static_cast<double>(config_.books);
  const Value kept_N1 =
      graph::reshape(graph::broadcast_in_dim(kept_B, {batch, frames}, {0}), {batch * frames, 1});

  Training training;
  Value residual = euclidean ? stop_gradient(z) : z;
  Value sum;
  for (int64_t k = 0; k < config_.books; ++k) {
    const Book& book = books_[static_cast<size_t>(k)];
    const Value codes = nearest(book, stop_gradient(residual));
    const Value chosen = vectors(book, codes);
    Value loss;
    if (euclidean) {
      follow(book, stop_gradient(residual), codes, k, step, training);
      const Value before = z - stop_gradient(z) + residual;  // independent of the kept books
      loss = mean_square(before - stop_gradient(chosen)) * 0.25;
    } else {
      const Value projected = book.in(residual);
      const Value rows = graph::take(book.codebook, codes);
      loss = mean_square(projected - stop_gradient(rows)) * 0.25 +
             mean_square(rows - stop_gradient(projected));
    }
    training.loss = training.loss ? training.loss + loss : loss;
    const Value active = convert(kept_N1 > static_cast<double>(k), DType::kF32);
    const Value used = chosen * active;
    sum = sum ? sum + used : used;
    residual = residual - stop_gradient(chosen);
  }
  const Value quantised = euclidean ? z + stop_gradient(sum - z) : z - stop_gradient(z) + sum;
  const Value warm = step.step < static_cast<double>(config_.warm_up_steps);
  training.latents_BTD = graph::reshape(graph::select(warm, z, quantised), latents_BTD.dims());
  training.loss = training.loss / books;
  if (training.usage) training.usage = training.usage / books;
  return training;
}

Value ResidualQuantizer::encode(const Value& latents_BTD) const {
  const int64_t batch = latents_BTD.size(0), frames = latents_BTD.size(1);
  Value residual = graph::reshape(latents_BTD, {batch * frames, latent_});
  graph::Values codes;
  for (const Book& book : books_) {
    codes.push_back(nearest(book, residual));
    residual = residual - vectors(book, codes.back());
    codes.back() = graph::reshape(codes.back(), {batch, frames, 1});
  }
  return graph::concatenate(codes, 2);
}

Value ResidualQuantizer::decode(const Value& codes_BTK, int64_t books) const {
  HUM_REQUIRE(books >= 1 && books <= config_.books, "decode: {} books of {}", books, config_.books);
  Value sum;
  for (int64_t k = 0; k < books; ++k) {
    const Value codes = graph::reshape(graph::slice_in_dim(codes_BTK, 2, k, k + 1),
                                       {codes_BTK.size(0), codes_BTK.size(1)});
    const Value chosen = lookup(k, codes);
    sum = sum ? sum + chosen : chosen;
  }
  return sum;
}

}  // namespace hum::models::codec
