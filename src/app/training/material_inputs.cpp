// Training inputs from folders that hold no items: synthetic singers, and songs as stems.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "app/training/inputs_impl.h"
#include "app/training/token_data.h"
#include "base/error.h"
#include "data/singing/sung_shards.h"
#include "data/stems/batches.h"
#include "data/stems/roles.h"
#include "models/ear/grid.h"
#include "models/separator/config.h"

namespace hum::app::internal {

using runtime::HostTensor;

std::vector<HostTensor> chosen(const nn::TrainSpec& spec, runtime::NamedTensors arrays) {
  std::vector<HostTensor> batch;
  for (const nn::Field& field : spec.batch) {
    const auto found =
        std::ranges::find(arrays, field.name, &runtime::NamedTensors::value_type::first);
    HUM_REQUIRE(found != arrays.end(), "{}: the training input has no array '{}'", spec.name,
                field.name);
    HUM_REQUIRE(found->second.shape() == field.shape, "{}: '{}' is {} in the data, {} in the model",
                spec.name, field.name, found->second.shape(), field.shape);
    batch.push_back(std::move(found->second));
  }
  return batch;
}

HostTensor shaped(graph::Dims dims, const std::vector<float>& values) {
  return HostTensor::of(std::move(dims), std::span(values));
}

namespace {

// The pitches of a sung batch as the ear's bins.
HostTensor pitch_bins(graph::Dims dims, std::vector<float> midi) {
  for (float& value : midi) {
    if (value >= 0) value = static_cast<float>(models::ear::pitch_bin(value));
  }
  return HostTensor::of(std::move(dims), std::span<const float>(midi));
}

// models/ does not depend on data/, so both have these: the ear's decoder and the labels agree on
// frames and on a note's steady part.
static_assert(models::ear::kHop == data::kPitchHop);
static_assert(models::ear::kSteadyFrom == data::kSteadyFrom &&
              models::ear::kSteadyTo == data::kSteadyTo);
static_assert(models::separator::kSampleRateHz == data::kStemRate);
static_assert(models::separator::kStemCount == static_cast<int64_t>(data::kStemCount));

ItemSplit split_stems(const data::SongSplit& songs, StageConfig stage) {
  stage.held_out = songs.held_out;
  return split_items(std::ssize(songs.windows), stage);
}

// Training and validation have no song in common, so random mixtures of the one have nothing of the
// other.
struct StemData {
  explicit StemData(const StageConfig& stage)
      : folder(stage.data),
        songs(data::split_by_song(folder, stage.held_out)),
        split(split_stems(songs, stage)),
        training(folder, songs.windows, 0, folder.size() - songs.held_out) {
    if (songs.held_out == 0) return;
    held_out.emplace(folder, songs.windows, folder.size() - songs.held_out, songs.held_out);
  }
  data::StemFolder folder;
  data::SongSplit songs;
  ItemSplit split;
  data::StemMaterial training;
  std::optional<data::StemMaterial> held_out;
};

}  // namespace

OpenedInput sung_crops(const InputRequest& request) {
  const StageConfig& stage = request.configuration.stage;
  const auto items = std::make_shared<const data::SungFolder>(stage.data);
  const auto make = [items, request, &stage](const Draw& draw) {
    const graph::Shape& audio = request.spec.batch.at(0).shape;
    const graph::Dims frames = {stage.batch, audio.size(1) / data::kPitchHop};
    auto batch =
        data::sung_batch(*items, draw.order, draw.seed, draw.step, stage.batch, audio.size(1));
    return chosen(request.spec,
                  {{"audio", HostTensor::of(audio.dims, std::span<const float>(batch.audio))},
                   {"f0", pitch_bins(frames, std::move(batch.f0))},
                   {"note", pitch_bins(frames, std::move(batch.note))},
                   {"onset", HostTensor::of(frames, std::span<const float>(batch.onset))},
                   {"offset", HostTensor::of(frames, std::span<const float>(batch.offset))}});
  };
  return opened(stage, split_items(items->size(), stage), make);
}

OpenedInput stem_mixtures(const InputRequest& request) {
  const StageConfig& stage = request.configuration.stage;
  const auto data = std::make_shared<const StemData>(stage);
  const auto make = [data, request, &stage](const Draw& draw) {
    const int64_t samples = request.spec.batch.at(0).shape.dims.back();
    const auto& material = draw.is_training ? data->training : *data->held_out;
    const auto batch =
        data::stem_batch(material, draw.order, draw.seed, draw.step, stage.batch, samples);
    constexpr auto kStems = static_cast<int64_t>(data::kStemCount);
    return chosen(request.spec, {{"stems", shaped({stage.batch, kStems, 2, samples}, batch.stems)},
                                 {"mixture", shaped({stage.batch, 2, samples}, batch.mixture)}});
  };
  return opened(stage, data->split, make);
}

}  // namespace hum::app::internal
