// The systems of a folder of released weights that the harness can play: hum itself, its parts, and
// the codec as a ceiling.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/play/synthesizer.h"
#include "base/json_fwd.h"
#include "eval/harness/evaluation.h"
#include "pipeline/hearing.h"

namespace hum::app {

// The preset classifier that judges: weights/judge, which hears copies and recordings in training,
// else weights/classifier. Neither need be there.
std::filesystem::path judge_folder(const std::filesystem::path& weights);

// The preset classifier of `folder` as a judge. The session must outlive it. Throws: what
// ClassifierSession throws.
eval::Classifier preset_classifier(runtime::Session& session, const std::filesystem::path& folder);

class ModelSystems {
 public:
  // The session must outlive it.
  ModelSystems(runtime::Session& session, const std::filesystem::path& weights);

  // Encodes the clip and its reference before any system plays it, because users do not wait for
  // that. `with_residuals`: also computes the reference's residuals, which systems without
  // `residual` do not need.
  void prepare(const eval::TestClip& clip, bool with_residuals = true);

  // They refer to this object. "hum" transcribes the hum; the others get the true notes, so that
  // their figures do not depend on the transcription.
  std::vector<eval::System> systems();
  // These models play from the hum ("NAME") and from the true notes ("NAME, true notes"). They are
  // compared with "hum" and "hum, true notes", or with the same of "hum --lm" if they sample.
  std::vector<eval::System> compared_as(const std::string& name, const SynthesisOptions& options);
  // "hum, by name": from the hum, with the stored reference of a seen preset in place of the clip's
  // reference. For other presets it plays as "hum".
  eval::System by_name();
  // The real instrument plays the notes heard in the hum.
  eval::System heard_rendering();
  // The draft with the true clip as its own timbre reference: the limit of what any reference
  // brings.
  eval::System own_reference();
  // The guided decoder decodes the tokens of the true clip with the true notes.
  eval::System guided_copy();
  // The plain codec decodes the same tokens.
  eval::System codec_copy();

  // The tokens of a sound. Shapes: -> [frames, books].
  std::vector<int32_t> tokens_of(std::span<const float> samples) {
    return synthesizer_.codec().encode(samples);
  }
  // Counts tokens of that shape under a name.
  void count_tokens(const std::string& name, std::span<const int32_t> codes);
  // [{"book", "sound": a name, "entropy_bits": per token, "used": share of the entries}]
  Json codebook_use();

  // What was heard of the prepared clip's hum, in the octave of its notes.
  const std::vector<audio::Note>& heard() const { return heard_; }
  // And of its reference.
  const std::vector<audio::Note>& reference_notes() const { return timbre_.notes; }

  Synthesizer& synthesizer() { return synthesizer_; }

 private:
  eval::System from_hum(const std::string& name, const SynthesisOptions& options);
  eval::System told_notes(const std::string& name, const std::string& what,
                          const SynthesisOptions& options);
  // With token figures if the language model plays.
  eval::System told_notes(const std::string& name, const SynthesisOptions& options);
  std::vector<float> play(std::span<const audio::Note> notes, const eval::TestClip& clip,
                          const TimbreSource& timbre, const SynthesisOptions& options);
  // Systems that play from the hum hear it themselves, because their time counts.
  std::vector<audio::Note> hear(const eval::TestClip& clip) const;
  eval::TokenLogits token_logits(const eval::TestClip& clip);

  Synthesizer synthesizer_;
  pipeline::HearFunction hear_;
  TimbreSource timbre_;
  std::vector<int32_t> codes_;  // of the prepared clip's truth: [frames, books]
  std::vector<audio::Note> heard_;
  std::map<std::string, std::vector<int32_t>> counted_;
};

}  // namespace hum::app
