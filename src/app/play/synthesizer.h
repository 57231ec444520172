// Runs the released models: from a recording to a melody, and from a melody to an instrument.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/synthesis/fluid.h"
#include "data/synthesis/presets.h"
#include "models/basic_pitch/notes.h"
#include "models/codec/codec_session.h"
#include "models/humming/humming_session.h"
#include "pipeline/hearing.h"
#include "pipeline/play.h"
#include "runtime/session.h"

namespace hum::app {

// The folder that `setting` names, else HUM_WEIGHTS, else weights/ in data_folder(). Throws:
// kNoInput if it is named and there is no such folder.
std::filesystem::path weights_folder(const std::string& named,
                                     std::string_view setting = "--weights");

// Basic Pitch as a function. All of a session share one model. The session must outlive it.
pipeline::TranscribeFunction transcriber(runtime::Session& session,
                                         const models::basic_pitch::NoteOptions& options);

// The presets that these weights were trained on, which are those with a reference, in table order.
std::vector<const data::Preset*> known_presets(const std::filesystem::path& weights);

// Renders the reference clip of a preset: 5 s of a synthetic melody on the sound font, at the level
// of training.
std::vector<float> render_reference(const data::Preset& preset, data::FluidRenderer& renderer);

// Reads up to 5 s of a recording as mono at 22,050 Hz, from its first sound. Throws: kBadData below
// 1 s.
std::vector<float> read_clip(const std::filesystem::path& path, double max_seconds,
                             std::vector<std::string>& warnings);

enum class Decoder { kGuided, kPlain };
inline EnumNames<Decoder> enum_names(Decoder) {
  static constexpr std::pair<Decoder, std::string_view> kNames[] = {{Decoder::kGuided, "guided"},
                                                                    {Decoder::kPlain, "plain"}};
  return kNames;
}

struct SynthesisOptions {
  Decoder decoder = Decoder::kGuided;
  bool fast = false;  // the draft alone, without the language model
  double strength = kNeutralStrength;
  models::humming::SamplingOptions sampling;

  // The strength at which temperature, guidance and draft have their defaults.
  static constexpr double kNeutralStrength = 0.5;

  template <class V>
  void visit_fields(V& v) {
    v("decoder", decoder,
      "guided: pitch from the melody, timbre from the models; plain: the codec's own decoder");
    v("fast", fast, "skip the language model: faster, plainer sound");
    v("strength", strength,
      "0: close to melody and timbre, 1: free; sets --temperature, --guidance and --draft");
    sampling.visit_fields(v);
  }
};

// As strength goes from 0 to 1, temperature goes from 0.4 to 1.2, guidance from 2 to 1 and draft
// from 0.8 to 0.2. The default strength gives their defaults and leaves set values alone.
models::humming::SamplingOptions sampling_of(const SynthesisOptions& options);

// Throws kUsage naming the flag that is out of range, or that --strength would override.
void validate(const SynthesisOptions& options);

// Reads each model when it is first needed. The session must outlive it.
class Synthesizer {
 public:
  Synthesizer(runtime::Session& session, std::filesystem::path weights);

  // Reads weights/references/<preset>.safetensors, else renders the preset. Adds a warning if the
  // weights have other references but not this one.
  models::humming::TimbreReference preset_reference(const data::Preset& preset,
                                                    std::vector<std::string>& warnings);
  // Encodes at most the first 5 s of a sound.
  models::humming::TimbreReference encode(std::vector<float> samples);
  // Reads the models that instrument() will need, so that damaged weights fail before any work.
  void load(const SynthesisOptions& options);
  // The channels of the sound that the weights were trained on.
  audio::Channels channels() const { return humming_.common().channels; }
  // The result refers to this synthesizer. It draws tokens with the seeds of the pieces that it
  // plays. `in_stereo`: stereo weights play both channels, not their mean.
  pipeline::Instrument instrument(models::humming::TimbreReference reference,
                                  const SynthesisOptions& options, bool in_stereo = false);

  // Plays the first `books` of these tokens through the guided decoder, whatever the melody;
  // repeats the last frame after their end. Shapes: codes [frames, K]. The result refers to this
  // synthesizer.
  pipeline::Instrument token_instrument(std::span<const int32_t> codes, int64_t books);

  models::codec::CodecSession& codec();
  const models::humming::HummingSession& humming() const { return humming_; }

 private:
  pipeline::RenderFunction guided_decoder() const;

  runtime::Session& session_;
  std::filesystem::path weights_;
  models::humming::HummingSession humming_;
  std::unique_ptr<models::codec::CodecSession> codec_;
};

}  // namespace hum::app
