#include "models/humming/melody_columns.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/humming/config.h"

namespace hum::models::humming {
namespace {

using runtime::HostTensor;

// Zeros after the last column. Shapes: [rows, n] -> [rows, n + added].
HostTensor with_zero_columns(const HostTensor& matrix, int64_t added) {
  const int64_t rows = matrix.shape().dims[0], columns = matrix.shape().dims[1];
  HostTensor result({graph::DType::kF32, {rows, columns + added}});
  const auto values = matrix.to_floats();
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(values.begin() + row * columns, columns,
                result.as<float>().begin() + row * (columns + added));
  }
  return result;
}

int64_t long_count(std::span<const float> row, int64_t column) {
  HUM_REQUIRE(std::ssize(row) > column, "a long count: {} features", row.size());
  return std::lround(row[static_cast<size_t>(column)] * static_cast<float>(kMelodyLongCountFrames));
}

}  // namespace

double midi_pitch(std::span<const float> row) { return 64 + 32 * row[kMelodyPitch]; }

bool is_sounding(std::span<const float> row) { return row[kMelodySounding] > 0.5F; }

int64_t age_frames(std::span<const float> row) { return long_count(row, kMelodyLongSinceOnset); }

int64_t frames_since_end(std::span<const float> row) {
  return long_count(row, kMelodyLongSinceEnd);
}

int64_t last_age_frames(std::span<const float> row) {
  const int64_t age = age_frames(row), since_end = frames_since_end(row);
  if (is_sounding(row)) return age;
  if (age == kMelodyLongCountFrames && since_end < age) return age;  // the count has ended
  return std::max<int64_t>(0, age - since_end);
}

HostTensor first_columns(std::span<const float> rows, const graph::Dims& dims) {
  HostTensor result({graph::DType::kF32, dims});
  const int64_t columns = dims.back(), count = result.elements() / columns;
  const int64_t told = std::ssize(rows) / count;
  HUM_REQUIRE(std::ssize(rows) == told * count, "melody: {} numbers are not {} rows", rows.size(),
              count);
  if (told < columns) {
    fail(ExitCode::kBadData,
         fmt::format("the model reads {} melody features per frame, the melody has {}", columns,
                     told),
         "a newer hum trained these weights: use that one");
  }
  for (int64_t row = 0; row < count; ++row) {
    std::copy_n(rows.begin() + row * told, columns, result.as<float>().begin() + row * columns);
  }
  return result;
}

void widen_for_features(runtime::Weights& weights, int64_t features) {
  const Json& model = weights.config.at("model");
  if (!model.contains("common")) return;
  const int64_t added =
      features - model.at("common").value("melody_features", CommonConfig().melody_features);
  if (added <= 0) return;
  for (auto& [name, tensor] : weights.tensors) {
    // These layers read [latents, melody].
    if (name == "in.weight" || name == "timbre.in.weight") {
      tensor = with_zero_columns(tensor, added);
    }
  }
}

}  // namespace hum::models::humming
