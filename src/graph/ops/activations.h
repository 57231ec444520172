// Activation functions, composed of element-wise ops. They compute in f32 and return x's type.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

#define HUM_DECLARE_ACTIVATION(function) \
  Value function(const Value& x, std::source_location where = std::source_location::current());
// max(x, 0), with gradient 0 at 0.
HUM_DECLARE_ACTIVATION(relu)
// The error function, within 3e-7; its gradient is the exact 2/sqrt(pi) exp(-x^2). Source: the
// rational approximation x P(x^2) / Q(x^2) on [-4, 4] of Eigen's generic_fast_erf, which XLA also
// uses.
HUM_DECLARE_ACTIVATION(erf)
// x Phi(x). Source: Hendrycks and Gimpel 2016, "Gaussian error linear units".
HUM_DECLARE_ACTIVATION(gelu)
// The tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as in GPT-2.
HUM_DECLARE_ACTIVATION(gelu_new)
// x logistic(x).
HUM_DECLARE_ACTIVATION(silu)
// log(1 + exp(x)), without overflow.
HUM_DECLARE_ACTIVATION(softplus)
#undef HUM_DECLARE_ACTIVATION

}  // namespace hum::graph
