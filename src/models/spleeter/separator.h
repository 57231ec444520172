// Runs Spleeter with its weights on songs of any length.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "audio/dsp.h"
#include "models/segment_stream.h"
#include "runtime/session.h"

namespace hum::models::spleeter {

// The folder "spleeter" below the first of wheel_folders() that has it: `make fetch-spleeter`
// writes it.
std::filesystem::path default_weights_path();
bool has_weights();

// Thread-safe after construction. The session must outlive it.
class Separator {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's.
  explicit Separator(runtime::Session& session,
                     const std::filesystem::path& weights = default_weights_path());
  ~Separator();

  const std::vector<std::string>& stems() const;

  // Separates a song that comes block by block: stereo at 44,100 Hz to one sound per stem. This
  // object must outlive the stream.
  SegmentStream stream() const;

  // One sound per stem, as long as the song. Works in segments of 512 frames (11.9 s), so its
  // memory beside the sounds does not depend on their length. The stems add up to the song below
  // 11,025 Hz; above they are silent. Throws: kFailure unless the song is in stereo at 44,100 Hz.
  std::vector<audio::AudioBuffer> separate(const audio::AudioBuffer& song) const;

  // The masks that separate() multiplies spectra with: one per stem, and in it one per channel.
  // Shapes: [1 + samples / hop, bins]. Throws what separate() throws.
  std::vector<std::vector<audio::Matrix<float>>> masks(const audio::AudioBuffer& song) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::spleeter
