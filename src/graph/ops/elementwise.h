// Element-wise ops, constants and conversions.
//
// Binary ops broadcast as numpy does (dims aligned at the right) and accept a plain number on
// either side; element types must be equal. Errors name both shapes and the caller's source line.
#pragma once

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// A Value or a number, with the source line that wrote it.
class Operand {
 public:
  Operand(const Value& value, std::source_location where = std::source_location::current())
      : value_(value), where_(where) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> Operand(
      T number, std::source_location where = std::source_location::current())
      : number_(static_cast<double>(number)), where_(where) {}

  const Value& value() const { return value_; }
  double number() const { return number_; }
  std::source_location where() const { return where_; }

 private:
  Value value_;
  double number_ = 0;
  std::source_location where_;
};

// Constants.
Value constant(double number, Shape shape,
               std::source_location where = std::source_location::current());
// elements: row-major, one per element of the shape; converted to the shape's dtype.
Value constant(std::span<const double> elements, Shape shape,
               std::source_location where = std::source_location::current());
Value constant(std::span<const float> elements, Dims dims,
               std::source_location where = std::source_location::current());
Value constant(std::span<const int32_t> elements, Dims dims,
               std::source_location where = std::source_location::current());
// Whether every element is `number` by construction: a constant, possibly broadcast or reshaped.
bool is_all(const Value& value, double number);
Value zeros_like(const Value& x);
Value ones_like(const Value& x);
// 0, 1, 2, ... along `dim`.
Value iota(Shape shape, int dim, std::source_location where = std::source_location::current());

// Arithmetic.
Value operator+(Operand a, Operand b);
Value operator-(Operand a, Operand b);
Value operator*(Operand a, Operand b);
Value operator/(Operand a, Operand b);
Value operator-(Operand x);
Value maximum(Operand a, Operand b);
Value minimum(Operand a, Operand b);
Value power(Operand a, Operand b);
Value remainder(Operand a, Operand b);
Value atan2(Operand y, Operand x);
// a + b of equal shapes; autodiff sums cotangents with it.
Value add_values(const Value& a, const Value& b);

// Bits and booleans (i1, i32, u32, u8).
Value operator&(Operand a, Operand b);
Value operator|(Operand a, Operand b);
Value operator^(Operand a, Operand b);
Value operator~(Operand x);
Value shift_left(Operand a, Operand bits);
Value shift_right_logical(Operand a, Operand bits);
Value shift_right_arithmetic(Operand a, Operand bits);

// Comparisons return i1.
Value operator<(Operand a, Operand b);
Value operator<=(Operand a, Operand b);
Value operator>(Operand a, Operand b);
Value operator>=(Operand a, Operand b);
Value equal(Operand a, Operand b);
Value not_equal(Operand a, Operand b);
// condition (i1) ? a : b; all three broadcast.
Value select(const Value& condition, Operand a, Operand b,
             std::source_location where = std::source_location::current());
// min(max(x, low), high)
Value clamp(const Value& x, Operand low, Operand high);

#define HUM_DECLARE_UNARY(function) \
  Value function(const Value& x, std::source_location where = std::source_location::current());
HUM_DECLARE_UNARY(abs)
HUM_DECLARE_UNARY(exponential)
HUM_DECLARE_UNARY(exponential_minus_one)
HUM_DECLARE_UNARY(log)
HUM_DECLARE_UNARY(log_plus_one)
HUM_DECLARE_UNARY(sqrt)
HUM_DECLARE_UNARY(rsqrt)
HUM_DECLARE_UNARY(tanh)
HUM_DECLARE_UNARY(logistic)
HUM_DECLARE_UNARY(sine)
HUM_DECLARE_UNARY(cosine)
HUM_DECLARE_UNARY(floor)
HUM_DECLARE_UNARY(ceil)
HUM_DECLARE_UNARY(round_nearest_even)
HUM_DECLARE_UNARY(sign)
HUM_DECLARE_UNARY(is_finite)
#undef HUM_DECLARE_UNARY

// Converts to another element type: floats to integers round towards zero, anything to i1 is "not
// zero".
Value convert(const Value& x, DType dtype,
              std::source_location where = std::source_location::current());
// Reinterprets the bits as another type of the same size.
Value bitcast_convert(const Value& x, DType dtype,
                      std::source_location where = std::source_location::current());

// Dims of `x` become dims `dims_map` of the result; size-1 dims and new dims are repeated. The
// gradient sums over them.
Value broadcast_in_dim(const Value& x, Dims dims, Dims dims_map,
                       std::source_location where = std::source_location::current());
// Broadcasts x to `dims` as numpy does.
Value broadcast_to(const Value& x, const Dims& dims,
                   std::source_location where = std::source_location::current());

}  // namespace hum::graph
