// A program to compile: named parameters, results, and donated inputs.
#pragma once

#include <string>
#include <vector>

#include "graph/value.h"

namespace hum::graph {

struct Function {
  std::string name = "main";
  Values parameters;
  Values results;
  // Donates parameter i's buffer to result r: {i, r}. Shapes must be equal.
  struct Donation {
    int parameter;
    int result;
  };
  std::vector<Donation> donations;
  // The mesh for the function's collectives. Without collectives it may stay at one device.
  Mesh mesh = {};
};

// Throws if results depend on an unlisted parameter, or a donation is invalid.
void verify(const Function& function);

}  // namespace hum::graph
