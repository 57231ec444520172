// What a model learns: named logical tensors with their initial values. A ParameterList hands out
// the placeholders that the model's graphs use; train and serve fill them in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/value.h"

namespace hum::nn {

// How a tensor starts, from a stream of random numbers keyed by (seed, its name).
struct Init {
  enum class Kind { kZeros, kOnes, kNormal, kUniform } kind = Kind::kZeros;
  // kNormal: standard deviation (cut at two deviations); kUniform: half width.
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
  // touches.
  bool trainable = true;
  graph::Value value;
};

// A logical tensor within a joined one: its own dims, and the dims (of as many elements) in which
// the parts stand side by side along dim 1.
struct JoinedPart {
  std::string name;
  graph::Dims dims, laid_out;
  Init init;
};

// How a list's tensors are kept.
struct Storage {
  // False: one placeholder a logical tensor, and programs join what they use side by side; training
  // and checkpoints. True: one placeholder for the joined tensor; programs that run often on
  // weights that stay.
  bool joined = false;
  // Element type of tensors of two or more dims; the others are f32.
  graph::DType matrices = graph::DType::kF32;
};

class ParameterList {
 public:
  ParameterList() = default;
  explicit ParameterList(Storage storage) : storage_(storage) {}

  // The placeholder of a new tensor. Throws when the name is taken.
  graph::Value declare(std::string name, graph::Dims dims, Init init);
  graph::Value declare_buffer(std::string name, graph::Dims dims, Init init);

  // Several tensors as one of `dims`, which is `name` when the storage is joined and their joined
  // placeholders otherwise. Names are below `prefix` (with its dot).
  graph::Value declare_joined(const std::string& prefix, const std::string& name,
                              const std::vector<JoinedPart>& parts, graph::Dims dims);

  // What fills the placeholders of the same model's list under joined storage, in its order.
  const graph::Values& joined_values() const { return joined_values_; }

  const std::vector<Parameter>& all() const { return parameters_; }
  graph::Values values() const;
  int64_t element_count() const;

 private:
  graph::Shape stored(graph::Dims dims) const;
  graph::Value add(Parameter parameter);
  Storage storage_;
  std::vector<Parameter> parameters_;
  graph::Values joined_values_;
};

// Names below a prefix: Scope(list, "decoder").child("blocks.0").declare("norm.weight", ...) makes
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

// The initial elements of a parameter, row-major; the same for any mesh and any order of asking.
std::vector<float> initial_elements(const Parameter& parameter, uint64_t seed);
// Into memory that is there. Throws unless `elements` has as many.
void initial_elements(const Parameter& parameter, uint64_t seed, std::span<float> elements);

}  // namespace hum::nn
