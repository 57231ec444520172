// One block of each model, by its name in tests/data/autodiff/blocks.json.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "graph/value.h"
#include "nn/parameters.h"

namespace hum::parity {

struct Block {
  const char* golden;
  // Declares its parameters and computes it.
  graph::Values (*build)(const nn::Scope& scope, std::span<const graph::Value> inputs);
};
std::span<const Block> blocks();

// "transformer, swiglu" -> "transformer_swiglu"
std::string test_name(const Block& block);
// Otherwise test lists show the struct's bytes.
void PrintTo(const Block& block, std::ostream* out);

}  // namespace hum::parity
