#include "train/validation.h"

namespace hum::train {

Validation::Validation(Trainer& trainer, const HeldOut& held_out, int64_t count)
    : trainer_(trainer) {
  for (int64_t index = 0; index < count; ++index) batches_.push_back(held_out.batches(index));
}

Validation::Means Validation::means(int64_t step) {
  Means means;
  for (int64_t index = 0; index < batches(); ++index) {
    const auto scalars = trainer_.validate(step, index, batches_[static_cast<size_t>(index)]);
    if (means.empty()) {
      for (const auto& [name, value] : scalars) means.emplace_back(name, 0);
    }
    for (size_t i = 0; i < scalars.size(); ++i) {
      means[i].second += static_cast<double>(scalars[i].second) / static_cast<double>(batches());
    }
  }
  return means;
}

}  // namespace hum::train
