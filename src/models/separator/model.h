// The separator: a mask for each of six stems, from the magnitudes of a stereo mixture. The masks
// add up to 1 in every bin, and both channels have the same ones. How a whole song is separated
// with them is in separator_session.h.
//
// B batch, S stems, C channels, N samples, T frames, F bins of a spectrum, L the lowest of them,
// X features of a band.
#pragma once

#include <memory>
#include <vector>

#include "models/separator/config.h"
#include "models/separator/network.h"
#include "nn/model_spec.h"
#include "nn/waveform.h"

namespace hum::models::separator {

class Separator {
 public:
  explicit Separator(const SeparatorConfig& config);
  Separator(const Separator&) = delete;
  Separator& operator=(const Separator&) = delete;

  const SeparatorConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }

  // Each stem's share of every bin. They do not depend on the mixture's level.
  // Shapes: two of BCTF, f32 -> BSTF, f32.
  Value masks(const nn::Spectrum& mixture_BCTF, graph::DType compute,
              const nn::BlockOptions& blocks = {}) const;

  // Batch: stems f32[B,S,C,N], and mixture f32[B,C,N], their sum. Throws: kConfig when a crop has
  // fewer than eight frames.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  // What the network sees of each band: mid and side, and the band's level. Shapes: BCTF -> BTX.
  Values features(const nn::Spectrum& mixture_BCTF, graph::DType compute) const;
  // The masks of the lowest bins. Shapes: two of BCTF, F >= L -> BSTL, f32.
  Value shares(const nn::Spectrum& mixture_BCTF, graph::DType compute,
               const nn::BlockOptions& blocks) const;
  // Of the lowest bins' spectra, because those above have gains of the highest band: L1 of
  // magnitudes to the power of 0.5; L1 of complex spectra; and the mean over the stems that sound
  // of log(1 + 1000 error energy / mixture energy), whose gradient is that of an SDR in dB until
  // the error is 30 dB below the mixture. 0 for the true stems.
  nn::Loss loss(const Value& stems_BSCN, const Value& mixture_BCN, graph::DType compute,
                const nn::BlockOptions& blocks) const;

  SeparatorConfig config_;
  nn::ParameterList parameters_;
  std::vector<int64_t> edges_;
  std::vector<nn::Norm> norms_;
  std::unique_ptr<Network> network_;
};

}  // namespace hum::models::separator
