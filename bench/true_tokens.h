// Test data for the codec alone: clips unseen in training, their own tokens, both decoders.
#pragma once

#include <vector>

#include "app/play/synthesizer.h"
#include "bench/scale.h"
#include "eval/harness/copies.h"

namespace hum::bench {

// 24 clips of 15 s, with presets from across those that the released weights know and melodies
// unseen in training. The smoke form has one of 6 s.
std::vector<eval::Clip> unseen_clips(const Scale& scale);

// The released codec and guided decoder, and the tokens of all clips.
class TrueTokens {
 public:
  // The session must outlive it.
  TrueTokens(runtime::Session& session, const std::vector<eval::Clip>& clips);

  int64_t books() const { return codec().config().quantizer.books; }
  // Clip i's first `used` books, decoded; 0: all.
  std::vector<float> plain(size_t i, int64_t used = 0) const;
  // Same with the guided decoder, which also receives these notes.
  std::vector<float> guided(size_t i, std::span<const audio::Note> notes, int64_t used = 0) const;
  // The share of each book's entries that occur in the clips.
  std::vector<double> used() const;

 private:
  models::codec::CodecSession& codec() const { return synthesizer_.codec(); }

  mutable app::Synthesizer synthesizer_;  // loads its models on first use
  std::vector<std::vector<int32_t>> codes_;
};

}  // namespace hum::bench
