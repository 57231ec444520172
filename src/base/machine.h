// Describes the machine that the process runs on.
#pragma once

#include <string>

namespace hum {

// The processor's model name and the number of threads hum computes with: "AMD EPYC, 2 threads".
std::string processor_name();

}  // namespace hum
