#include "models/humming/latent_predictor.h"

#include "models/humming/upsampler.h"
#include "runtime/bind.h"

namespace hum::models::humming {

using graph::DType;
using runtime::HostTensor;

LatentPredictor::LatentPredictor(runtime::Session& session, const std::filesystem::path& folder,
                                 int64_t batch, int64_t frames, int64_t reference_frames)
    : session_(session) {
  const runtime::Weights stored = runtime::read_weights(folder);
  UpsamplerConfig config;
  runtime::read_model_config(stored, "hum-upsampler", folder, config);
  last_stage_ = config.classified_books;
  const Upsampler model(config);
  const auto& common = config.common;
  auto input = [](const char* name, DType dtype, graph::Dims dims) {
    return graph::parameter(name, {dtype, std::move(dims)});
  };
  const Value stages = input("stages", DType::kI32, {batch}),
              codes = input("codes", DType::kI32, {batch, frames, common.books}),
              melody = input("melody", DType::kF32, {batch, frames, common.melody_features}),
              reference = input("reference", DType::kF32, {batch, reference_frames, common.latent}),
              count = input("reference_frames", DType::kI32, {batch});
  graph::Function function{.name = "upsampler/predict", .parameters = model.parameters().values()};
  function.parameters.insert(function.parameters.end(), {stages, codes, melody, reference, count});
  function.results = {
      model.predict(model.known(codes, stages), melody, pooled_reference(reference, count), stages)
          .latents_BTD};
  program_ = session.compile(function.name, function);
  for (const auto& tensor : runtime::bind(model.parameters().values(), stored.tensors, folder)) {
    weights_.push_back(session.to_device(tensor));
  }
}

HostTensor LatentPredictor::predict(const HostTensor& stages, const HostTensor& codes,
                                    const HostTensor& melody, const HostTensor& reference,
                                    const HostTensor& reference_frames) const {
  std::vector<runtime::Tensor> arguments = weights_;
  for (const HostTensor* input : {&stages, &codes, &melody, &reference, &reference_frames}) {
    arguments.push_back(session_.to_device(*input));
  }
  return session_.to_host(program_->run(arguments)[0]);
}

}  // namespace hum::models::humming
