// Basic Pitch, ready to use: samples in, posteriors or notes out.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "models/basic_pitch/network.h"
#include "models/basic_pitch/notes.h"
#include "models/basic_pitch/posteriors.h"
#include "runtime/session.h"

namespace hum::models::basic_pitch {

// Windows go through the network four at a time, so that no length of sound compiles anything new;
// four is what a training clip of 6 s needs.
inline constexpr int64_t kWindowsPerRun = 4;

// Thread-safe after construction. The session must outlive it.
class Transcriber {
 public:
  // Throws: as read_weights.
  explicit Transcriber(runtime::Session& session,
                       const std::filesystem::path& weights = default_weights_path());

  // Shapes: samples [N], mono at 22,050 Hz -> floor(86 N / 22,050) frames.
  // Throws: kBadData when a sample is not finite.
  Posteriors posteriors(std::span<const float> samples) const;

  // create_notes of the posteriors.
  std::vector<audio::Note> notes(std::span<const float> samples,
                                 const NoteOptions& options = {}) const;

 private:
  runtime::Session& session_;
  runtime::Executable network_;
  std::vector<runtime::Tensor> weights_;
};

}  // namespace hum::models::basic_pitch
