// Runs the ear with its weights on sound of any length.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/ear/decoder.h"
#include "runtime/session.h"

namespace hum::models::ear {

// Thread-safe after construction. The session must outlive it.
class EarSession {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's.
  EarSession(runtime::Session& session, const std::filesystem::path& weights);
  ~EarSession();

  // Mono at 22,050 Hz; times `gain` it is at the level of training (active_rms 0.1). Works in
  // windows of 10 s that overlap, so that every frame has 0.75 s around it or the end of the sound.
  // After each window `progress` gets the share of the sound that was heard; it may be empty, and
  // throw to stop.
  Frames listen(std::span<const float> samples, float gain = 1,
                const std::function<void(double done)>& progress = {}) const;
  std::vector<HeardNote> notes(std::span<const float> samples,
                               const DecoderOptions& options = {}) const {
    return decode(listen(samples), options);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::ear
