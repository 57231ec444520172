#include "models/humming/drafter.h"

#include "models/humming/upsampler.h"
#include "runtime/bind.h"

namespace hum::models::humming {

using graph::DType;
using runtime::HostTensor;

Drafter::Drafter(runtime::Session& session, const std::filesystem::path& folder, int64_t batch,
                 int64_t frames, int64_t reference_frames)
    : session_(session) {
  const runtime::Weights stored = runtime::read_weights(folder);
  UpsamplerConfig config;
  runtime::read_model_config(stored, "hum-upsampler", folder, config);
  const Upsampler model(config);
  const auto& common = config.common;
  const auto melody =
      graph::parameter("melody", {DType::kF32, {batch, frames, common.melody_features}});
  const auto reference =
      graph::parameter("reference", {DType::kF32, {batch, reference_frames, common.latent}});
  const auto count = graph::parameter("reference_frames", {DType::kI32, {batch}});
  const Value nothing = graph::constant(0, {DType::kF32, {batch, frames, common.latent}});
  const Value stage = graph::constant(0, {DType::kI32, {batch}});
  graph::Function function{.name = "upsampler/draft", .parameters = model.parameters().values()};
  function.parameters.insert(function.parameters.end(), {melody, reference, count});
  function.results = {
      model.predict(nothing, melody, pooled_reference(reference, count), stage).latents_BTD};
  program_ = session.compile(function.name, function);
  for (const auto& tensor : runtime::bind(model.parameters().values(), stored.tensors, folder)) {
    weights_.push_back(session.to_device(tensor));
  }
}

HostTensor Drafter::draft(const HostTensor& melody, const HostTensor& reference,
                          const HostTensor& reference_frames) const {
  std::vector<runtime::Tensor> arguments = weights_;
  for (const HostTensor* input : {&melody, &reference, &reference_frames}) {
    arguments.push_back(session_.to_device(*input));
  }
  return session_.to_host(program_->run(arguments)[0]);
}

}  // namespace hum::models::humming
