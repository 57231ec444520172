// Runs the released models: from a recording to a melody, and from a melody to an instrument.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "app/play/joined_clips.h"
#include "app/play/references.h"
#include "app/play/synthesis_options.h"
#include "audio/notes.h"
#include "data/synthesis/presets.h"
#include "models/basic_pitch/notes.h"
#include "models/codec/codec_session.h"
#include "models/humming/humming_session.h"
#include "models/humming/residual.h"
#include "pipeline/hearing.h"
#include "pipeline/play.h"
#include "runtime/session.h"

namespace hum::models::humming {
class BandCorrection;
}

namespace hum::app {

// The folder that `setting` names, else HUM_WEIGHTS, else weights/ in data_folder(). Throws:
// kNoInput if it is named and there is no such folder.
std::filesystem::path weights_folder(const std::string& named,
                                     std::string_view setting = "--weights");

// Basic Pitch as a function. All of a session share one model. The session must outlive it.
// `progress`: see Transcriber::posteriors.
pipeline::TranscribeFunction transcriber(runtime::Session& session,
                                         const models::basic_pitch::NoteOptions& options,
                                         std::function<void(double done)> progress = {});

// A timbre for the models.
struct TimbreSource {
  models::humming::TimbreReference reference;  // the models are conditioned on it
  // Sound of the same timbre, for the residual: latents [frames, D] of one or more notes. Without
  // notes there is no residual.
  std::vector<float> latents;
  std::vector<audio::Note> notes;
  // That sound, at the level of training: [frames 441]. Empty: unknown, as of stored tokens; then
  // its bands are not corrected.
  std::vector<float> sound = {};
  // What the models miss of the latents, and then of the sound's bands
  // (models/humming/equaliser.h). Null: not computed yet (Synthesizer::add_residuals).
  std::shared_ptr<const models::humming::Residual> residual = nullptr;
  std::shared_ptr<const models::humming::BandCorrection> bands = nullptr;
  // Null: notes keep their level.
  std::shared_ptr<const models::humming::LateDecay> decay = nullptr;
};

// Reads each model when it is first needed. Thread-safe. The session must outlive it.
class Synthesizer {
 public:
  Synthesizer(runtime::Session& session, std::filesystem::path weights);

  // Reads weights/references/<preset>.safetensors, else renders the preset. Adds a warning if the
  // weights have other references but not this one. `with_stored`: with add_stored().
  TimbreSource preset_timbre(const data::Preset& preset, std::vector<std::string>& warnings,
                             bool with_stored = true);
  // Whether the tokens of a reference have the sizes of the models' codec.
  bool reads(const models::codec::TokenFile& reference) const;
  // Of a reference that it reads.
  TimbreSource stored_timbre(const models::codec::TokenFile& reference) const;
  // Encodes sounds of one timbre, each at the level of training. The models are conditioned on
  // kReference_s at most.
  TimbreSource clip_timbre(std::vector<TimbreClip> clips);
  // Reads the models that instrument() will need, so that damaged weights fail before any work.
  void load(const SynthesisOptions& options);
  // The channels of the sound that the weights were trained on.
  audio::Channels channels() const { return humming_.common().channels; }
  // The result refers to this synthesizer. It draws tokens with the seeds of the pieces that it
  // plays. `in_stereo`: stereo weights play both channels, not their mean. Stereo weights have no
  // residual, because references are mono.
  pipeline::Instrument instrument(TimbreSource timbre, const SynthesisOptions& options,
                                  bool in_stereo = false);

  // Plays the first `books` of these tokens through the guided decoder, whatever the melody; of a
  // split codec the sound part alone. Repeats the last frame after their end. Shapes: codes
  // [frames, K]. The result refers to this synthesizer.
  pipeline::Instrument token_instrument(std::span<const int32_t> codes, int64_t books);

  // Of the latents. Null if the timbre has none: no notes, or stereo weights.
  std::shared_ptr<const models::humming::Residual> residual(const TimbreSource& timbre) const;
  // Adds to a preset's timbre its residual, computed if it is not stored, and how its notes die
  // away. Throws: what stored_decay throws.
  void add_stored(const data::Preset& preset, TimbreSource& timbre) const;
  // Computes the residuals that a timbre lacks; without it each instrument() computes them again.
  // The plain decoder has none of bands.
  void add_residuals(TimbreSource& timbre, Decoder decoder = Decoder::kGuided);

  models::codec::CodecSession& codec();
  const models::humming::HummingSession& humming() const { return humming_; }

 private:
  // read: the codes that condition the models; melody: the rows of features of their frames, empty
  // if the notes are unknown; all: what the residual is made of.
  TimbreSource source_of(std::span<const int32_t> read, std::vector<float> melody,
                         const models::codec::TokenFile& all) const;
  bool has_residual(const TimbreSource& timbre) const;
  // Of the bands of what the draft and the guided decoder play of the timbre's own notes. Serves
  // --lm too: most of it is the decoder's.
  std::shared_ptr<const models::humming::BandCorrection> band_correction(
      const TimbreSource& timbre);
  pipeline::RenderFunction guided_decoder() const;

  runtime::Session& session_;
  std::filesystem::path weights_;
  models::humming::HummingSession humming_;
  std::mutex codec_mutex_;
  std::unique_ptr<models::codec::CodecSession> codec_;
};

}  // namespace hum::app
