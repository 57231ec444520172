#include "tests/parity/op_cases.h"

#include <ostream>

namespace hum::parity {
namespace {

constexpr Family kFamilies[] = {
    {"Unary", unary_cases},           {"Binary", binary_cases},
    {"Shape", shape_cases},           {"DotAndConvolution", dot_and_convolution_cases},
    {"Reduction", reduction_cases},   {"Indexing", indexing_cases},
    {"Activation", activation_cases}, {"Spectral", spectral_cases},
    {"Control", control_cases},       {"Sort", sort_cases},
    {"Structure", structure_cases},   {"Kernel", kernel_cases},
    {"Random", random_cases}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

}  // namespace hum::parity
