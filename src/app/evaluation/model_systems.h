// A folder of released weights as systems that the harness can play: hum itself, its parts, the
// codec as a ceiling.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/play/synthesizer.h"
#include "base/json_fwd.h"
#include "eval/harness/evaluation.h"

namespace hum::app {

class ModelSystems {
 public:
  // The session must outlive it.
  ModelSystems(runtime::Session& session, const std::filesystem::path& weights);

  // Codes the clip and its reference, before any system plays it: nobody waits for that in use.
  void prepare(const eval::TestClip& clip);

  // They refer to this object. "hum" hears the hum; the others are given the true notes, so that no
  // transcription stands between model and figure.
  std::vector<eval::System> systems();
  // These models from the hum ("NAME") and from the true notes ("NAME, true notes"), compared with
  // "hum" and "hum, true notes".
  std::vector<eval::System> compared_as(const std::string& name, const SynthesisOptions& options);
  // What the instrument itself makes of the notes heard in the hum.
  eval::System heard_rendering();
  // Tokens of the true clip, decoded by the guided decoder with the true notes.
  eval::System guided_copy();
  // The same tokens, decoded by the plain codec.
  eval::System codec_copy();

  // Counts the tokens of a sound under a name.
  void count_tokens(const std::string& name, std::span<const float> samples);
  // [{"book", name: bits a token, ...}]
  Json codebook_entropies();

  Synthesizer& synthesizer() { return synthesizer_; }

 private:
  eval::System from_hum(const std::string& name, const SynthesisOptions& options);
  eval::System told_notes(const std::string& name, const std::string& what,
                          const SynthesisOptions& options);
  eval::System told_notes_with_tokens(const std::string& name, const SynthesisOptions& options);
  std::vector<float> play(std::span<const audio::Note> notes, const eval::TestClip& clip,
                          const SynthesisOptions& options);
  std::vector<audio::Note> heard(const eval::TestClip& clip) const;
  eval::TokenLogits token_logits(const eval::TestClip& clip);

  Synthesizer synthesizer_;
  pipeline::TranscribeFunction transcribe_;
  models::humming::TimbreReference reference_;
  std::vector<int32_t> codes_;  // of the prepared clip's truth: [frames, books]
  std::map<std::string, std::vector<int32_t>> counted_;
};

}  // namespace hum::app
