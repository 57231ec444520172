#include <algorithm>
#include <vector>

#include "graph/ops/custom_call.h"
#include "kernels/depthwise_conv/depthwise_conv.h"
#include "kernels/row_kernel.h"
#include "kernels/row_sums.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

constexpr int64_t kMostTaps = 16, kUsualTaps = 7;

// y[t] = bias + sum over k of weights[k] x[t + k dilation - low], within one item.
struct Window {
  int64_t taps, dilation, low, channels;
  int64_t in_time;

  struct Range {
    int64_t begin, end;
  };
  // Taps that fall inside the input at output t.
  Range taps_at(int64_t t) const {
    const int64_t from = low - t, to = in_time + low - t;  // bounds of k dilation
    const int64_t begin = from <= 0 ? 0 : (from + dilation - 1) / dilation;
    const int64_t end = to <= 0 ? 0 : (to + dilation - 1) / dilation;
    return {std::min(begin, taps), std::clamp<int64_t>(end, 0, taps)};
  }
};

template <typename Floats, typename T>
HUM_INLINE void row_of_taps(const Window& w, const T* x, const float* weights, const float* bias,
                            int64_t t, T* y) {
  const auto [begin, end] = w.taps_at(t);
  const int64_t at = (t - w.low) * w.channels;  // of tap 0, which may lie outside
  const int64_t step = w.dilation * w.channels;
  for (int64_t c = 0; c < w.channels; c += kLanes) {
    Floats sum = bias == nullptr ? Floats{} : simd::load<Floats>(bias + c);
    if (end - begin == kUsualTaps) {
#pragma GCC unroll 7
      for (int k = 0; k < kUsualTaps; ++k) {
        sum += simd::load<Floats>(weights + (begin + k) * w.channels + c) *
               simd::load<Floats>(x + (at + (begin + k) * step + c));
      }
    } else {
      for (int64_t k = begin; k < end; ++k) {
        sum += simd::load<Floats>(weights + k * w.channels + c) *
               simd::load<Floats>(x + (at + k * step + c));
      }
    }
    simd::store(y + c, sum);
  }
}

// Outputs [begin, end) of an item.
template <typename Floats, typename T>
HUM_INLINE void convolve_body(const Window& w, const T* x, const float* weights, const float* bias,
                              int64_t begin, int64_t end, T* y) {
  for (int64_t t = begin; t < end; ++t) {
    row_of_taps<Floats>(w, x, weights, bias, t, y + t * w.channels);
  }
}
HUM_SIMD_FUNCTION(convolve,
                  (const Window& w, const float* x, const float* weights, const float* bias,
                   int64_t begin, int64_t end, float* y),
                  (w, x, weights, bias, begin, end, y))
HUM_SIMD_FUNCTION(convolve,
                  (const Window& w, const uint16_t* x, const float* weights, const float* bias,
                   int64_t begin, int64_t end, uint16_t* y),
                  (w, x, weights, bias, begin, end, y))

// Adds to sums[K + 1, C], over outputs [begin, end) of an item: x at each tap times dy, then dy.
// Sixteen channels at a time, over few enough rows to stay in cache.
template <typename Floats, typename T>
HUM_INLINE void correlate_body(const Window& w, const T* x, const T* dy, int64_t begin, int64_t end,
                               float* sums) {
  constexpr int64_t kTile = 16;
  const int64_t step = w.dilation * w.channels;
  for (int64_t first = begin; first < end; first += kTile) {
    const int64_t last = std::min(first + kTile, end);
    for (int64_t c = 0; c < w.channels; c += kLanes) {
      Floats products[kMostTaps] = {}, total{};
      for (int64_t t = first; t < last; ++t) {
        const auto [from, to] = w.taps_at(t);
        const int64_t at = (t - w.low) * w.channels + c;  // of tap 0
        const Floats d = simd::load<Floats>(dy + t * w.channels + c);
        total += d;
        if (from == 0 && to == kUsualTaps) {
#pragma GCC unroll 7
          for (int k = 0; k < kUsualTaps; ++k)
            products[k] += simd::load<Floats>(x + (at + k * step)) * d;
        } else {
          for (int64_t k = from; k < to; ++k)
            products[k] += simd::load<Floats>(x + (at + k * step)) * d;
        }
      }
      for (int64_t k = 0; k < w.taps; ++k) {
        float* sum = sums + k * w.channels + c;
        simd::store(sum, simd::load<Floats>(sum) + products[k]);
      }
      float* sum = sums + w.taps * w.channels + c;
      simd::store(sum, simd::load<Floats>(sum) + total);
    }
  }
}
HUM_SIMD_FUNCTION(correlate,
                  (const Window& w, const float* x, const float* dy, int64_t begin, int64_t end,
                   float* sums),
                  (w, x, dy, begin, end, sums))
HUM_SIMD_FUNCTION(correlate,
                  (const Window& w, const uint16_t* x, const uint16_t* dy, int64_t begin,
                   int64_t end, float* sums),
                  (w, x, dy, begin, end, sums))

// Splits rows [begin, end) at item boundaries and calls body(item, begin, end) for each piece.
template <typename Body>
void for_each_item(int64_t begin, int64_t end, int64_t time, const Body& body) {
  while (begin < end) {
    const int64_t item = begin / time, stop = std::min(end, (item + 1) * time);
    body(item, begin - item * time, stop - item * time);
    begin = stop;
  }
}

template <typename T>
void convolve_items(const pjrt::ffi::Call& call, const Window& w, int64_t batch, int64_t out_time,
                    const T* x, const float* weights, const float* bias, T* y) {
  const int64_t elements = batch * out_time * w.channels;
  for_each_rows(call, elements, w.channels, [&](int64_t first, int64_t last) {
    for_each_item(first, last, out_time, [&](int64_t item, int64_t begin, int64_t end) {
      convolve(w, x + item * w.in_time * w.channels, weights, bias, begin, end,
               y + item * out_time * w.channels);
    });
  });
}

Window window_of(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0), kernel = call.argument(1);
  const auto attributes = call.attributes();
  return {.taps = kernel.size(0),
          .dilation = attributes.integer("dilation"),
          .low = attributes.integer("padding_low"),
          .channels = x.size(2),
          .in_time = x.size(1)};
}

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const auto y = call.result(0);
  convolve_items(call, window_of(call), y.size(0), y.size(1), call.argument(0).as<const T>().data(),
                 call.argument(1).as<const float>().data(),
                 call.argument(2).as<const float>().data(), y.template as<T>().data());
}

// dx is a convolution of dy with the taps reversed.
template <typename T>
void input_gradient(const pjrt::ffi::Call& call, const Window& w) {
  const auto kernel = call.argument(1).as<const float>();
  std::vector<float> turned(kernel.size());
  for (int64_t k = 0; k < w.taps; ++k) {
    std::copy_n(kernel.data() + k * w.channels, w.channels,
                turned.data() + (w.taps - 1 - k) * w.channels);
  }
  const auto dy = call.argument(2);
  Window back = w;
  back.low = (w.taps - 1) * w.dilation - w.low;
  back.in_time = dy.size(1);
  convolve_items<T>(call, back, dy.size(0), w.in_time, dy.template as<const T>().data(),
                    turned.data(), nullptr, call.result(0).template as<T>().data());
}

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const Window w = window_of(call);
  const auto x = call.argument(0).as<const T>(), dy = call.argument(2).as<const T>();
  const int64_t batch = call.argument(2).size(0), time = call.argument(2).size(1);
  input_gradient<T>(call, w);
  std::vector<float> sums(static_cast<size_t>((w.taps + 1) * w.channels));
  CallWorkers workers(call);
  sum_over_rows(workers, batch * time, std::ssize(sums), sums.data(),
                [&](int64_t first, int64_t last, float* part) {
                  for_each_item(first, last, time, [&](int64_t item, int64_t begin, int64_t end) {
                    correlate(w, x.data() + item * w.in_time * w.channels,
                              dy.data() + item * time * w.channels, begin, end, part);
                  });
                });
  const int64_t kernel = w.taps * w.channels;
  std::copy_n(sums.data(), kernel, call.result(1).template as<float>().data());
  std::copy_n(sums.data() + kernel, w.channels, call.result(2).template as<float>().data());
}

bool depthwise_conv_available(const graph::Node& node) {
  const graph::Value& x = node.input(0);
  return worth_a_row_kernel(node) && x.size(2) % kLanes == 0 && node.input(1).size(0) <= kMostTaps;
}

}  // namespace

const Kernel kDepthwiseConvKernel = {
    {"hum.depthwise_conv", 1,
     &pjrt::ffi::handler<by_dtype<run_forward<float>, run_forward<uint16_t>>>},
    depthwise_conv_available};
const Kernel kDepthwiseConvGradKernel = {
    {"hum.depthwise_conv_grad", 1,
     &pjrt::ffi::handler<by_dtype<run_backward<float>, run_backward<uint16_t>>>},
    depthwise_conv_available};

}  // namespace hum::kernels
