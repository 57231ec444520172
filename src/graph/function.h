// A program to compile: named parameters in, results out, and which inputs may be overwritten.
#pragma once

#include <string>
#include <vector>

#include "graph/value.h"

namespace hum::graph {

struct Function {
  std::string name = "main";
  Values parameters;
  Values results;
  // Parameter i's buffer becomes result r's: {i, r}. Shapes must be equal.
  struct Donation {
    int parameter;
    int result;
  };
  std::vector<Donation> donations;
  // What its collectives speak of; without any, it may be left at one device.
  Mesh mesh = {};
};

// Throws when results depend on a parameter that is not listed, or a donation does not fit.
void verify(const Function& function);

}  // namespace hum::graph
