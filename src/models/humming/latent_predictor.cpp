#include "models/humming/latent_predictor.h"

#include "base/error.h"
#include "models/humming/melody_columns.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using runtime::HostTensor;

runtime::Executable compile(const StoredModel<Upsampler>& upsampler, int64_t batch, int64_t frames,
                            int64_t reference_frames) {
  const Upsampler& model = upsampler.model();
  const auto& common = model.config().common;
  auto input = [](const char* name, DType dtype, graph::Dims dims) {
    return graph::parameter(name, {dtype, std::move(dims)});
  };
  const Value stages = input("stages", DType::kI32, {batch}),
              codes = input("codes", DType::kI32, {batch, frames, common.books}),
              melody = input("melody", DType::kF32, {batch, frames, common.melody_features}),
              reference = input("reference", DType::kF32, {batch, reference_frames, common.latent}),
              count = input("reference_frames", DType::kI32, {batch});
  graph::Values inputs = {stages, codes, melody, reference, count};
  Value played;
  if (model.attends()) {
    played =
        input("reference_melody", DType::kF32, {batch, reference_frames, common.melody_features});
    inputs.push_back(played);
  }
  const auto predicted = model.predict(model.known(codes, stages), melody,
                                       model.timbre({reference, count, played}), stages);
  return upsampler.compile("upsampler/predict", inputs, {predicted.latents_BTD});
}

}  // namespace

LatentPredictor::LatentPredictor(runtime::Session& session, const std::filesystem::path& weights,
                                 LatentModel model, int64_t batch, int64_t frames,
                                 int64_t reference_frames)
    : kind_(model),
      upsampler_(session, weights_part(weights, to_name(model)),
                 fmt::format("hum-{}", to_name(model)).c_str()),
      program_(compile(upsampler_, batch, frames, reference_frames)) {}

HostTensor LatentPredictor::predict(const HostTensor& stages, const HostTensor& codes,
                                    const HostTensor& melody, const HostTensor& reference,
                                    const HostTensor& reference_frames,
                                    const HostTensor* reference_melody) const {
  const auto narrowed = [&](const HostTensor& told) {
    const graph::Dims& dims = told.shape().dims;
    return first_columns(told.as<float>(), {dims[0], dims[1], common().melody_features});
  };
  const HostTensor read = narrowed(melody);
  HostTensor reference_read;
  std::vector<const HostTensor*> inputs = {&stages, &codes, &read, &reference, &reference_frames};
  if (needs_reference_melody()) {
    HUM_REQUIRE(reference_melody != nullptr, "upsampler: the references have no melody");
    reference_read = narrowed(*reference_melody);
    inputs.push_back(&reference_read);
  }
  return upsampler_.run(program_, inputs);
}

}  // namespace hum::models::humming
