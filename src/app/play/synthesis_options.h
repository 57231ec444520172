// How an instrument is played: without or with the language model, and how that samples.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/enum_names.h"
#include "models/humming/sampling_options.h"

namespace hum::app {

enum class Decoder { kGuided, kPlain };
inline EnumNames<Decoder> enum_names(Decoder) {
  static constexpr std::pair<Decoder, std::string_view> kNames[] = {{Decoder::kGuided, "guided"},
                                                                    {Decoder::kPlain, "plain"}};
  return kNames;
}

struct SynthesisOptions {
  Decoder decoder = Decoder::kGuided;
  bool lm = false;  // mixes samples of the language model into the draft
  double strength = kNeutralStrength;
  double residual = 1;
  models::humming::SamplingOptions sampling;

  // The strength at which temperature, guidance and draft have their defaults.
  static constexpr double kNeutralStrength = 0.5;

  template <class V>
  void visit_fields(V& v) {
    v("decoder", decoder,
      "guided: pitch from the melody, timbre from the models; plain: the codec's own decoder");
    v("lm", lm, "sample the sound's tokens with the language model: slower, and takes differ");
    v("strength", strength,
      "with --lm: 0: close to melody and timbre, 1: free; sets --temperature, --guidance and "
      "--draft");
    v("residual", residual,
      "0..1: how much to add of what the models miss of the timbre reference's own notes");
    sampling.visit_fields(v);
  }
};

// As strength goes from 0 to 1, temperature goes from 0.4 to 1.2, guidance from 2 to 1 and draft
// from 0.8 to 0.2. The default strength gives their defaults and leaves set values alone.
models::humming::SamplingOptions sampling_of(const SynthesisOptions& options);

// Throws kUsage naming the flag that is out of range, that --strength would override, or that has
// no effect without --lm.
void validate(const SynthesisOptions& options);
// Throws kUsage for several takes whose tokens would be the same: without the language model, or
// with its likeliest tokens.
void validate_takes(int64_t takes, const SynthesisOptions& options);

}  // namespace hum::app
