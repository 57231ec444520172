// Runs the preset classifier with its weights on sound of any length.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/session.h"

namespace hum::models::preset_classifier {

inline constexpr int64_t kWindowSamples = 6 * 22050;

struct Judgement {
  std::vector<float> embedding;
  std::vector<float> logits;  // one per preset
};

// Thread-safe after construction. The session must outlive it.
class ClassifierSession {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's.
  ClassifierSession(runtime::Session& session, const std::filesystem::path& weights);
  ~ClassifierSession();

  const std::vector<std::string>& presets() const;
  // Returns the mean over windows of kWindowSamples, the last one padded with silence. Mono at
  // 22,050 Hz. Throws: kFailure without samples.
  Judgement judge(std::span<const float> samples) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::preset_classifier
