// For tests only: a tiny Spleeter, and its masks by the definition, as plain loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "models/spleeter/model.h"
#include "runtime/host_tensor.h"

namespace hum::models::spleeter {

inline SpleeterConfig tiny_config() {
  return {.stems = {"voice", "drums", "rest"},
          .window_samples = 64,
          .hop_samples = 16,
          .frames = 8,
          .bins = 32,
          .width = 2,
          .levels = 2};
}

// Numbers of the parameter's size: initial ones, with scales and offsets that are not trivial.
inline runtime::HostTensor tiny_weight(const nn::Parameter& parameter) {
  Rng rng(7, parameter.name);
  auto values = nn::initial_elements(parameter, 7);
  for (float& value : values) value += static_cast<float>(rng.uniform(-0.3, 0.3));
  return runtime::HostTensor::of(parameter.shape.dims, std::span<const float>(values));
}

// The published U-Net as plain loops. Maps are [rows, columns, features] of one item.
struct Map {
  int64_t rows = 0, columns = 0, features = 0;
  std::vector<double> values = {};

  Map(int64_t rows, int64_t columns, int64_t features)
      : rows(rows), columns(columns), features(features) {
    values.resize(static_cast<size_t>(rows * columns * features));
  }
  double& at(int64_t row, int64_t column, int64_t feature) {
    return values[static_cast<size_t>((row * columns + column) * features + feature)];
  }
  bool has(int64_t row, int64_t column) const {
    return row >= 0 && row < rows && column >= 0 && column < columns;
  }
  // Element (row, column, feature) becomes f(row, column, feature).
  template <typename F>
  void fill(const F& f) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        for (int64_t i = 0; i < features; ++i) at(row, column, i) = f(row, column, i);
      }
    }
  }
};

class Reference {
 public:
  Reference(const Spleeter& model, std::string stem) : model_(model), stem_(std::move(stem)) {}

  Map run(Map mixture) const {
    const int64_t levels = model_.config().levels;
    std::vector<Map> skips;
    Map x = mixture;
    for (int64_t level = 0; level < levels; ++level) {
      const std::string name = fmt::format("encoder.{}", level);
      skips.push_back(convolved(name, x, 2, 1, 1));
      if (level + 1 < levels) {
        x = each(name, skips.back(), [](double v) { return v > 0 ? v : 0.2 * v; });
      }
    }
    x = skips.back();
    for (int64_t level = 0; level < levels; ++level) {
      skips.pop_back();
      const std::string name = fmt::format("decoder.{}", level);
      Map grown = doubled(name, x);
      for (double& v : grown.values) v = std::max(v, 0.0);
      x = each(name, grown, [](double v) { return v; });
      if (!skips.empty()) x = beside(skips.back(), x);
    }
    Map share = convolved("head", x, 1, 2, 3);
    for (size_t i = 0; i < share.values.size(); ++i) {
      share.values[i] = mixture.values[i] / (1 + std::exp(-share.values[i]));
    }
    return share;
  }

 private:
  struct Tensor {
    graph::Dims dims;
    std::vector<float> values;
  };
  Tensor tensor(const std::string& name) const {
    for (const auto& parameter : model_.parameters().all()) {
      if (parameter.name == fmt::format("{}.{}", stem_, name)) {
        return {parameter.shape.dims, tiny_weight(parameter).to_floats()};
      }
    }
    fail(ExitCode::kFailure, "no parameter " + name);
  }

  Map convolved(const std::string& name, Map x, int64_t stride, int64_t dilation,
                int64_t padding) const {
    const Tensor kernel = tensor(name + ".weight"), bias = tensor(name + ".bias");
    const int64_t taps = kernel.dims[0], out = kernel.dims[3];
    Map y(x.rows / stride, x.columns / stride, out);
    y.fill([&](int64_t r, int64_t c, int64_t o) {
      double sum = bias.values[static_cast<size_t>(o)];
      for (int64_t tap = 0; tap < taps * taps; ++tap) {
        const int64_t row = r * stride + tap / taps * dilation - padding,
                      column = c * stride + tap % taps * dilation - padding;
        if (!x.has(row, column)) continue;
        for (int64_t i = 0; i < x.features; ++i) {
          sum += x.at(row, column, i) *
                 kernel.values[static_cast<size_t>((tap * x.features + i) * out + o)];
        }
      }
      return sum;
    });
    return y;
  }

  // A transposed convolution of stride 2, cropped to twice the size.
  Map doubled(const std::string& name, Map x) const {
    const Tensor kernel = tensor(name + ".weight"), bias = tensor(name + ".bias");
    const int64_t taps = kernel.dims[0], out = kernel.dims[3];
    Map y(2 * x.rows, 2 * x.columns, out);
    y.fill([&](int64_t r, int64_t c, int64_t o) {
      double sum = bias.values[static_cast<size_t>(o)];
      for (int64_t tap = 0; tap < taps * taps; ++tap) {
        // The input, at twice its place, that this tap carries here.
        const int64_t row = r + 1 - tap / taps, column = c + 1 - tap % taps;
        if (row % 2 != 0 || column % 2 != 0 || !x.has(row / 2, column / 2)) continue;
        for (int64_t i = 0; i < x.features; ++i) {
          sum += x.at(row / 2, column / 2, i) *
                 kernel.values[static_cast<size_t>((tap * x.features + i) * out + o)];
        }
      }
      return sum;
    });
    return y;
  }

  Map each(const std::string& name, Map x, double (*f)(double)) const {
    const Tensor scale = tensor(name + ".scale"), offset = tensor(name + ".offset");
    for (size_t i = 0; i < x.values.size(); ++i) {
      const size_t feature = i % static_cast<size_t>(x.features);
      x.values[i] = f(x.values[i] * scale.values[feature] + offset.values[feature]);
    }
    return x;
  }

  static Map beside(Map a, Map b) {
    Map both(a.rows, a.columns, a.features + b.features);
    both.fill([&](int64_t r, int64_t c, int64_t f) {
      return f < a.features ? a.at(r, c, f) : b.at(r, c, f - a.features);
    });
    return both;
  }

  const Spleeter& model_;
  std::string stem_;
};

// Ratio masks of the reference: one map per stem.
inline std::vector<Map> reference_masks(const Spleeter& model, const Map& mixture) {
  std::vector<Map> masks;
  for (const std::string& stem : model.config().stems) {
    masks.push_back(Reference(model, stem).run(mixture));
  }
  for (size_t i = 0; i < mixture.values.size(); ++i) {
    double sum = 1e-10;
    for (Map& mask : masks) sum += mask.values[i] * mask.values[i];
    for (Map& mask : masks) {
      mask.values[i] =
          (mask.values[i] * mask.values[i] + 1e-10 / static_cast<double>(masks.size())) / sum;
    }
  }
  return masks;
}

}  // namespace hum::models::spleeter
