#include "bench/deep_model.h"

#include "graph/ops.h"
#include "nn/transformer.h"
#include "train/training_step.h"

namespace hum::bench {

graph::Function deep_step(const DeepModel& model, const nn::BlockOptions& blocks) {
  nn::ParameterList list;
  const nn::Transformer transformer(nn::Scope(list), {.layers = model.layers,
                                                      .width = model.width,
                                                      .heads = 4,
                                                      .kv_heads = 4,
                                                      .feed_forward = 3 * model.width});
  const graph::Shape x{graph::DType::kF32, {model.batch, model.length, model.width}};
  const graph::Shape mask{graph::DType::kF32, {model.batch, model.length}};
  const nn::TrainSpec spec{
      .name = "deep",
      .parameters = &list,
      .batch = {{"x", x}, {"mask", mask}},
      .loss = [&](std::span<const graph::Value> in, const nn::StepInputs& step) {
        const graph::Value error = transformer(in[0], in[1], step.blocks) - in[0];
        return nn::Loss{.total = graph::mean_all(error * error)};
      }};
  return train::step_function(spec, {}, blocks).function;
}

}  // namespace hum::bench
