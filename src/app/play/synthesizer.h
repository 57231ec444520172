// The released models put together: from a recording to a melody, from a melody to an instrument.
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
#include "pipeline/play.h"
#include "pipeline/transcription.h"
#include "runtime/session.h"

namespace hum::app {

// --weights, else HUM_WEIGHTS, else weights/ in the source folder.
std::filesystem::path weights_folder(const std::string& flag);

// Basic Pitch as a function, which keeps what it needs. The session must outlive it.
pipeline::TranscribeFunction transcriber(runtime::Session& session,
                                         const models::basic_pitch::NoteOptions& options);

// The presets that these weights were trained on: those they hold a reference of, in table order.
std::vector<const data::Preset*> known_presets(const std::filesystem::path& weights);

// The reference clip of a preset: 5 s of a made-up melody on the sound font, at training's level.
std::vector<float> render_reference(const data::Preset& preset, data::FluidRenderer& renderer);

enum class Decoder { kGuided, kPlain };
inline EnumNames<Decoder> enum_names(Decoder) {
  static constexpr std::pair<Decoder, std::string_view> kNames[] = {{Decoder::kGuided, "guided"},
                                                                    {Decoder::kPlain, "plain"}};
  return kNames;
}

struct SynthesisOptions {
  Decoder decoder = Decoder::kGuided;
  bool fast = false;  // the draft alone, no LM
  double strength = kNeutralStrength;
  models::humming::SamplingOptions sampling;

  // The strength at which temperature, guidance and draft are their own defaults.
  static constexpr double kNeutralStrength = 0.5;

  template <class V>
  void visit_fields(V& v) {
    v("decoder", decoder,
      "guided: pitch from the melody, timbre from the models; plain: the codec's own decoder");
    v("fast", fast, "leave out the language model: quicker, plainer");
    v("strength", strength,
      "0: as the melody and the timbre say, 1: free; sets --temperature, --guidance and --draft");
    sampling.visit_fields(v);
  }
};

// Temperature 0.4 to 1.2, guidance 2 to 1 and draft 0.8 to 0.2 as strength goes from 0 to 1; the
// default is the defaults of all, and leaves them alone.
models::humming::SamplingOptions sampling_of(const SynthesisOptions& options);

// Throws kUsage naming the flag that is out of range, or that --strength would overrule.
void validate(const SynthesisOptions& options);

// Models are read when first needed. The session must outlive it.
class Synthesizer {
 public:
  Synthesizer(runtime::Session& session, std::filesystem::path weights);

  // weights/references/<preset>.safetensors, else a rendering of the preset; that the weights know
  // others and not this one is added to `warnings`.
  models::humming::TimbreReference preset_reference(const data::Preset& preset,
                                                    std::vector<std::string>& warnings);
  // Up to 5 s of a recording, from its first sound on. Throws: kBadData below 1 s.
  models::humming::TimbreReference file_reference(const std::filesystem::path& path,
                                                  double max_seconds,
                                                  std::vector<std::string>& warnings);
  // Of a sound: at most its first 5 s count.
  models::humming::TimbreReference encode(std::vector<float> samples);
  // Reads the models that instrument() will need, so that damaged weights are noticed before any
  // work.
  void load(const SynthesisOptions& options);
  // Of the sound that the weights were trained on.
  audio::Channels channels() const { return humming_.common().channels; }
  // Refers to this synthesizer. Tokens are drawn with the seeds of the pieces that are played.
  // `in_stereo`: stereo weights play both channels, not their mean.
  pipeline::Instrument instrument(models::humming::TimbreReference reference,
                                  const SynthesisOptions& options, bool in_stereo = false);

  // Plays the first `books` of these tokens, whatever the melody, through the guided decoder; the
  // last frame goes on past their end. Shapes: codes [frames, K]. Refers to this synthesizer.
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
