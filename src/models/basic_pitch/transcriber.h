// Runs Basic Pitch: samples to posteriors or notes.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "models/basic_pitch/network.h"
#include "models/basic_pitch/notes.h"
#include "models/basic_pitch/posteriors.h"
#include "runtime/session.h"

namespace hum::models::basic_pitch {

// Windows go through the network four at a time, so that all lengths of sound use the same program;
// a training clip of 6 s needs four.
inline constexpr int64_t kWindowsPerRun = 4;

// Thread-safe after construction. The session must outlive it.
class Transcriber {
 public:
  // Throws what read_weights throws.
  explicit Transcriber(runtime::Session& session,
                       const std::filesystem::path& weights = default_weights_path());

  // Shapes: samples [N], mono at 22,050 Hz -> floor(86 N / 22,050) frames.
  // After each run `progress` gets the share of the windows that is done; it may be empty, and may
  // throw to stop.
  // Throws: kBadData when a sample is not finite.
  Posteriors posteriors(std::span<const float> samples,
                        const std::function<void(double done)>& progress = {}) const;

  // Returns create_notes of the posteriors.
  std::vector<audio::Note> notes(std::span<const float> samples, const NoteOptions& options = {},
                                 const std::function<void(double done)>& progress = {}) const;

 private:
  runtime::Session& session_;
  runtime::Executable network_;
  std::vector<runtime::Tensor> weights_;
};

}  // namespace hum::models::basic_pitch
