#include "models/batched_program.h"

#include <algorithm>

namespace hum::models {

using runtime::HostTensor;

std::vector<int64_t> batches_of(int64_t rows) {
  if (rows == 1) return {1};
  return std::vector<int64_t>(static_cast<size_t>((rows + kBatchRows - 1) / kBatchRows),
                              kBatchRows);
}

HostTensor stack_rows(std::span<const Row> rows, size_t input, int64_t batch) {
  HUM_REQUIRE(!rows.empty() && std::ssize(rows) <= batch, "stack_rows: {} rows in a batch of {}",
              rows.size(), batch);
  graph::Shape shape = rows[0][input].shape();
  shape.dims.insert(shape.dims.begin(), batch);
  HostTensor stacked(shape);
  auto out = stacked.bytes().begin();
  for (int64_t i = 0; i < batch; ++i) {
    const HostTensor& row = rows[std::min(static_cast<size_t>(i), rows.size() - 1)][input];
    HUM_REQUIRE(row.shape() == rows[0][input].shape(), "stack_rows: {} beside {}", row.shape(),
                rows[0][input].shape());
    out = std::ranges::copy(row.bytes(), out).out;
  }
  return stacked;
}

std::vector<HostTensor> split_rows(const HostTensor& batch, int64_t rows) {
  graph::Shape shape = batch.shape();
  const auto count = static_cast<size_t>(shape.dims.at(0));
  HUM_REQUIRE(rows <= shape.dims[0], "split_rows: {} rows of {}", rows, batch.shape());
  shape.dims.erase(shape.dims.begin());
  const size_t bytes = batch.bytes().size() / count;
  std::vector<HostTensor> result;
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    const auto part = batch.bytes().subspan(i * bytes, bytes);
    result.emplace_back(shape, std::vector<std::byte>(part.begin(), part.end()));
  }
  return result;
}

}  // namespace hum::models
