// Sounds of one timbre, one after another: what a timbre reference is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/play/references.h"
#include "audio/notes.h"
#include "models/codec/codec_session.h"
#include "models/codec/token_file.h"

namespace hum::app {

// A sound of a timbre, mono at 22,050 Hz.
struct TimbreClip {
  std::vector<float> samples;
  std::optional<std::vector<audio::Note>> notes = {};  // in it; absent: unknown
  // What the models are conditioned on, in seconds of the samples.
  double read_from_s = 0, read_to_s = kReference_s;

  // Somebody listened and heard no note.
  bool is_unheard() const { return notes && notes->empty(); }
};

struct JoinedClips {
  // The sound part of the tokens, and the notes. Beside clips with notes, unheard ones are left
  // out: they would be the sound of the others' rests.
  models::codec::TokenFile all;
  std::vector<float> sound;  // the same, at the level of training: [frames 441]
  // What conditions the models: some frames of each clip.
  std::vector<int32_t> read_codes;  // [frames, books]
  std::vector<float> read_melody;   // [frames, kAllMelodyFeatures]; empty: notes are unknown
};

JoinedClips join_clips(std::vector<TimbreClip> clips, models::codec::CodecSession& codec);

}  // namespace hum::app
