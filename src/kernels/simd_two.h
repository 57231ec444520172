// A vector in two halves with GCC's vector operators, for machines whose registers hold only half
// of it: GCC would keep its own vectors of that size in memory.
#pragma once

#include <type_traits>

#define HUM_INLINE inline __attribute__((always_inline))

namespace hum::kernels::simd {

template <typename Half>
struct Two {
  Half low, high;
};
template <typename Half>
HUM_INLINE Two<Half> two(Half low, Half high) {
  return {low, high};
}

#define HUM_TWO_OPERATOR(op)                                                              \
  template <typename Half>                                                                \
  HUM_INLINE auto operator op(const Two<Half>& a, const Two<Half>& b) {                   \
    return two(a.low op b.low, a.high op b.high);                                         \
  }                                                                                       \
  template <typename Half, typename Number>                                               \
  requires std::is_arithmetic_v<Number> HUM_INLINE auto operator op(const Two<Half>& a,   \
                                                                    Number b) {           \
    return two(a.low op b, a.high op b);                                                  \
  }                                                                                       \
  template <typename Half, typename Number>                                               \
  requires std::is_arithmetic_v<Number> HUM_INLINE auto operator op(Number a,             \
                                                                    const Two<Half>& b) { \
    return two(a op b.low, a op b.high);                                                  \
  }
#define HUM_TWO_OPERATORS(F) \
  F(+) F(-) F(*) F(/) F(&) F(|) F(^) F(<<) F(>>) F(<) F(<=) F(>) F(>=) F(==) F(!=)
HUM_TWO_OPERATORS(HUM_TWO_OPERATOR)
#undef HUM_TWO_OPERATORS
#undef HUM_TWO_OPERATOR

template <typename Half>
HUM_INLINE Two<Half> operator-(const Two<Half>& a) {
  return {-a.low, -a.high};
}
template <typename Half, typename Other>
HUM_INLINE Two<Half>& operator+=(Two<Half>& a, const Other& b) {
  return a = a + b;
}

}  // namespace hum::kernels::simd
