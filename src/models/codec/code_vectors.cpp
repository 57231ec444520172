#include "models/codec/code_vectors.h"

#include <algorithm>

#include "base/error.h"

namespace hum::models::codec {

std::vector<float> sum_code_vectors(const runtime::HostTensor& codebooks,
                                    std::span<const int32_t> codes, int64_t used, int64_t step) {
  const auto& dims = codebooks.shape().dims;
  HUM_REQUIRE(dims.size() == 3, "sum_code_vectors: codebooks of rank {}", dims.size());
  const int64_t books = dims[0] / step, entries = dims[1], width = dims[2];
  HUM_REQUIRE(std::ssize(codes) % books == 0,
              "sum_code_vectors: {} codes are not whole frames of {} books", codes.size(), books);
  const auto vectors = codebooks.as<float>();
  std::vector<float> latents(codes.size() / static_cast<size_t>(books) *
                             static_cast<size_t>(width));
  for (int64_t i = 0; i < std::ssize(codes); ++i) {
    const int64_t frame = i / books, book = i % books, code = codes[static_cast<size_t>(i)];
    HUM_REQUIRE(code >= 0 && code < entries, "sum_code_vectors: code {} of {}", code, entries);
    if (book >= used) continue;
    const auto vector = vectors.subspan(static_cast<size_t>((book * step * entries + code) * width),
                                        static_cast<size_t>(width));
    float* out = latents.data() + frame * width;
    for (size_t d = 0; d < vector.size(); ++d) out[d] += vector[d];
  }
  return latents;
}

std::vector<int32_t> first_books(std::span<const int32_t> codes, int64_t books, int64_t kept) {
  HUM_REQUIRE(kept >= 1 && kept <= books && std::ssize(codes) % books == 0,
              "first_books: {} codes, {} of {} books", codes.size(), kept, books);
  std::vector<int32_t> result;
  for (auto frame = codes.begin(); frame != codes.end(); frame += books) {
    result.insert(result.end(), frame, frame + kept);
  }
  return result;
}

runtime::HostTensor side_by_side(const runtime::HostTensor& codebooks, int64_t channels) {
  const auto& dims = codebooks.shape().dims;
  HUM_REQUIRE(dims.size() == 3 && channels >= 1, "side_by_side: rank {}, {} channels", dims.size(),
              channels);
  const int64_t rows = dims[1], width = dims[2];
  runtime::HostTensor result({graph::DType::kF32, {dims[0] * channels, rows, width * channels}});
  const auto from = codebooks.as<float>();
  const auto to = result.as<float>();
  for (int64_t row = 0; row < dims[0] * channels * rows; ++row) {
    const int64_t book = row / rows, channel = book % channels;
    const int64_t source = book / channels * rows + row % rows;
    std::copy_n(from.begin() + source * width, width,
                to.begin() + (row * channels + channel) * width);
  }
  return result;
}

}  // namespace hum::models::codec
