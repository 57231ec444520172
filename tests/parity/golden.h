// Golden values that JAX made (tools/golden/autodiff.py), and comparing with them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "graph/value.h"
#include "runtime/host_tensor.h"

namespace hum::parity {

// The cases of tests/data/autodiff/<file>, by name.
const Json& golden_cases(const std::string& file);

// An input as the golden file writes it: [type, dims, low, high], made by rule from `name`, or
// [type, dims, values].
runtime::HostTensor golden_input(const Json& spec, const std::string& name);
// f32 numbers in [low, high) by rule.
runtime::HostTensor ruled_tensor(const std::string& name, const graph::Dims& dims, double low = -1,
                                 double high = 1);

// A program under construction: parameters with their contents, and results with what they should
// be.
class Comparison {
 public:
  graph::Value input(const std::string& name, runtime::HostTensor contents);
  void input(const graph::Value& parameter, runtime::HostTensor contents);
  // A cotangent for every float among the outputs, by rule (empty for the others).
  graph::Values cotangents(const std::string& name, const graph::Values& outputs);
  // Element by element: |got - wanted| <= bound max(1, |wanted|); whole numbers are exact. An empty
  // value stands for zeros (no gradient flows).
  void expect_values(std::string what, const graph::Value& value, const Json& wanted, double bound);
  // The Euclidean norm, and the projection on a direction by rule, both within bound * norm.
  void expect_projection(std::string what, const graph::Value& value, const std::string& direction,
                         const Json& wanted, double bound);
  // Compiles, runs, and EXPECTs.
  void run() const;

 private:
  struct Expectation {
    std::string what;
    size_t result;
    Json wanted;
    double bound;
    // Of a projection; else empty.
    std::string direction;
  };
  static void check_values(const Expectation& expectation, const runtime::HostTensor& got);
  static void check_projection(const Expectation& expectation, const runtime::HostTensor& got);

  graph::Values parameters_, results_;
  std::vector<runtime::HostTensor> contents_;
  std::vector<Expectation> expectations_;
};

}  // namespace hum::parity
