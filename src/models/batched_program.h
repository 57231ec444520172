// Runs a model's computation on independent rows with programs of a few fixed batch sizes, so that
// any number of rows runs without another compilation.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "models/stored_model.h"
#include "nn/model_spec.h"

namespace hum::models {

// One row of each input of a program, without the batch dim.
using Row = std::vector<runtime::HostTensor>;

inline constexpr int64_t kBatchRows = 8;

// Batch sizes for this many rows: 1 for a single row, else kBatchRows, even if the last batch has
// fewer rows.
std::vector<int64_t> batches_of(int64_t rows);

// Stacks one input of all rows; repeats the last row if there are fewer than `batch`.
// Shapes: n of [...] -> [batch, ...].
runtime::HostTensor stack_rows(std::span<const Row> rows, size_t input, int64_t batch);
// Shapes: [batch, ...] -> the first `rows` of [...].
std::vector<runtime::HostTensor> split_rows(const runtime::HostTensor& batch, int64_t rows);

// Thread-safe. Compiles each program when it is first needed.
template <typename Model>
class BatchedProgram {
 public:
  // Maps inputs to the result, both with a batch dim.
  using Trace = std::function<graph::Value(const graph::Values& inputs)>;

  // row_inputs: shapes without the batch dim. The model must outlive it.
  BatchedProgram(const StoredModel<Model>& model, std::string name,
                 std::vector<nn::Field> row_inputs, Trace trace)
      : model_(model),
        name_(std::move(name)),
        row_inputs_(std::move(row_inputs)),
        trace_(std::move(trace)) {}

  // One result per row. Except for rounding, the result of a row does not depend on the others.
  std::vector<runtime::HostTensor> run(std::span<const Row> rows) {
    std::vector<runtime::HostTensor> results;
    for (const int64_t batch : batches_of(std::ssize(rows))) {
      const auto part = rows.first(std::min(rows.size(), static_cast<size_t>(batch)));
      std::vector<runtime::HostTensor> inputs;
      for (size_t i = 0; i < row_inputs_.size(); ++i) {
        inputs.push_back(stack_rows(part, i, batch));
      }
      std::vector<const runtime::HostTensor*> given;
      for (const auto& input : inputs) given.push_back(&input);
      for (auto& result : split_rows(model_.run(program(batch), given), std::ssize(part))) {
        results.push_back(std::move(result));
      }
      rows = rows.subspan(part.size());
    }
    return results;
  }

 private:
  const runtime::Executable& program(int64_t batch) {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(batch);
    if (found != programs_.end()) return found->second;
    graph::Values inputs;
    for (const nn::Field& field : row_inputs_) {
      graph::Shape shape = field.shape;
      shape.dims.insert(shape.dims.begin(), batch);
      inputs.push_back(graph::parameter(field.name, shape));
    }
    const std::string name = batch == 1 ? name_ : fmt::format("{} x{}", name_, batch);
    return programs_.emplace(batch, model_.compile(name.c_str(), inputs, {trace_(inputs)}))
        .first->second;
  }

  const StoredModel<Model>& model_;
  std::string name_;
  std::vector<nn::Field> row_inputs_;
  Trace trace_;
  std::mutex mutex_;
  std::map<int64_t, runtime::Executable> programs_;
};

}  // namespace hum::models
