#include "models/preset_classifier/classifier_session.h"

#include <algorithm>

#include "base/error.h"
#include "models/preset_classifier/model.h"
#include "models/stored_model.h"

namespace hum::models::preset_classifier {

using graph::DType;
using runtime::HostTensor;

struct ClassifierSession::State {
  State(runtime::Session& session, const std::filesystem::path& folder)
      : stored(session, folder, "hum-classifier") {
    const Value audio = graph::parameter("audio", {DType::kF32, {1, kWindowSamples}});
    const auto predicted = stored.model().predict(audio, DType::kF32);
    program =
        stored.compile("classifier/judge", {audio},
                       {graph::concatenate({predicted.embedding_BE, predicted.logits_BC}, 1)});
  }

  StoredModel<PresetClassifier> stored;
  std::optional<runtime::Executable> program;
};

ClassifierSession::ClassifierSession(runtime::Session& session,
                                     const std::filesystem::path& weights)
    : state_(std::make_unique<State>(session, weights)) {}

ClassifierSession::~ClassifierSession() = default;

const std::vector<std::string>& ClassifierSession::presets() const {
  return state_->stored.model().config().presets;
}

Judgement ClassifierSession::judge(std::span<const float> samples) const {
  HUM_REQUIRE(!samples.empty(), "classifier: no samples");
  const auto embedding = static_cast<size_t>(state_->stored.model().config().embedding);
  std::vector<float> sum(embedding + presets().size());
  const auto windows = (samples.size() + static_cast<size_t>(kWindowSamples) - 1) /
                       static_cast<size_t>(kWindowSamples);
  for (size_t w = 0; w < windows; ++w) {
    const auto rest = samples.subspan(w * static_cast<size_t>(kWindowSamples));
    HostTensor window({DType::kF32, {1, kWindowSamples}});
    std::ranges::copy(rest.first(std::min(rest.size(), static_cast<size_t>(kWindowSamples))),
                      window.as<float>().begin());
    const HostTensor output = state_->stored.run(*state_->program, {&window});
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += output.as<float>()[i] / static_cast<float>(windows);
    }
  }
  const auto middle = sum.begin() + static_cast<std::ptrdiff_t>(embedding);
  return {{sum.begin(), middle}, {middle, sum.end()}};
}

}  // namespace hum::models::preset_classifier
