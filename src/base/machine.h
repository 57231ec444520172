// The machine that the process runs on, by name.
#pragma once

#include <string>

namespace hum {

// The processor as it calls itself, and how many threads hum computes with: "AMD EPYC, 2 threads".
std::string processor_name();

}  // namespace hum
