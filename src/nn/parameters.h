// A model's parameters: named logical tensors with initial values. A ParameterList creates the
// placeholders that the model's graphs use; train and serve fill them in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/value.h"

namespace hum::nn {

// How a tensor is initialized, from a random stream keyed by (seed, its name).
struct Init {
  enum class Kind { kZeros, kOnes, kNormal, kUniform } kind = Kind::kZeros;
  // kNormal: standard deviation (truncated at two deviations); kUniform: half width.
  double scale = 0;

  static Init zeros() { return {Kind::kZeros, 0}; }
  static Init ones() { return {Kind::kOnes, 0}; }
  static Init normal(double deviation) { return {Kind::kNormal, deviation}; }
  static Init uniform(double half_width) { return {Kind::kUniform, half_width}; }
};

struct Parameter {
  // Dotted path, Hugging Face style: "layers.3.attn.q_proj.weight".
  std::string name;
  graph::Shape shape;
  Init init;
  // False for buffers: state that the step itself updates (running codebooks) and no optimizer
  // changes.
  bool trainable = true;
  graph::Value value;
  // A matrix [out, in] that is applied to every position between hidden layers: one that Muon
  // trains. Embeddings, inputs, heads and conditions (one vector per item) are not hidden.
  bool hidden = false;
};

// A logical tensor within a joined one: its own dims, and the dims (with as many elements) in which
// the parts are concatenated along dim 1.
struct JoinedPart {
  std::string name;
  graph::Dims dims, laid_out;
  Init init;
  bool hidden = false;
};

// How a list stores its tensors.
struct Storage {
  // False: one placeholder per logical tensor, and programs join those they use together; for
  // training and checkpoints. True: one placeholder for the joined tensor; for programs that run
  // often with fixed weights.
  bool joined = false;
  // Element type of tensors of two or more dims; the others are f32.
  graph::DType matrices = graph::DType::kF32;
};

class ParameterList {
 public:
  ParameterList() = default;
  explicit ParameterList(Storage storage) : storage_(storage) {}

  // The placeholder of a new tensor. Throws if the name is taken.
  graph::Value declare(std::string name, graph::Dims dims, Init init);
  // The same, for a hidden matrix. Throws unless there are two dims.
  graph::Value declare_hidden(std::string name, graph::Dims dims, Init init);
  graph::Value declare_buffer(std::string name, graph::Dims dims, Init init);

  // Adds all tensors of another list, with its placeholders; their names get `prefix`. Throws if a
  // name is taken.
  void include(const std::string& prefix, const ParameterList& other);

  // Joins several tensors into one of `dims`: one placeholder called `name` if the storage is
  // joined, otherwise their concatenated placeholders. Names are below `prefix` (with its dot).
  graph::Value declare_joined(const std::string& prefix, const std::string& name,
                              const std::vector<JoinedPart>& parts, graph::Dims dims);

  // The values for the placeholders of the same model's list with joined storage, in its order.
  const graph::Values& joined_values() const { return joined_values_; }

  const std::vector<Parameter>& all() const { return parameters_; }
  graph::Values values() const;
  int64_t element_count() const;

 private:
  graph::Shape stored(graph::Dims dims) const;
  graph::Value add(Parameter parameter);
  void require_new(const std::string& name) const;
  Storage storage_;
  std::vector<Parameter> parameters_;
  graph::Values joined_values_;
};

// Prefixes names: Scope(list, "decoder").child("blocks.0").declare("norm.weight", ...) declares
// "decoder.blocks.0.norm.weight".
class Scope {
 public:
  Scope(ParameterList& list, std::string prefix = "") : list_(&list), prefix_(std::move(prefix)) {}

  const ParameterList& list() const { return *list_; }
  Scope child(const std::string& name) const { return {*list_, path(name)}; }
  Scope child(const std::string& name, int64_t index) const {
    return child(name + "." + std::to_string(index));
  }
  graph::Value declare(const std::string& name, graph::Dims dims, Init init) const {
    return list_->declare(path(name), std::move(dims), init);
  }
  graph::Value declare_hidden(const std::string& name, graph::Dims dims, Init init) const {
    return list_->declare_hidden(path(name), std::move(dims), init);
  }
  graph::Value declare_joined(const std::string& name, const std::vector<JoinedPart>& parts,
                              graph::Dims dims) const {
    return list_->declare_joined(path(""), name, parts, std::move(dims));
  }
  graph::Value declare_buffer(const std::string& name, graph::Dims dims, Init init) const {
    return list_->declare_buffer(path(name), std::move(dims), init);
  }

 private:
  std::string path(const std::string& name) const {
    return prefix_.empty() ? name : prefix_ + "." + name;
  }
  ParameterList* list_;
  std::string prefix_;
};

// The initial elements of a parameter, row-major; independent of the mesh and of the order of
// calls.
std::vector<float> initial_elements(const Parameter& parameter, uint64_t seed);
// Writes to existing memory. Throws unless `elements` has the right size.
void initial_elements(const Parameter& parameter, uint64_t seed, std::span<float> elements);

}  // namespace hum::nn
