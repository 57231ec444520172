// The references of timbres: those of presets, which are stored beside the weights, and clips of
// users. A stored reference is 21 s long: a melody of 5 s, as in training, which conditions the
// models, then single notes over the whole range, for the residual (models/humming/residual.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/presets.h"
#include "models/codec/codec_session.h"
#include "models/codec/token_file.h"
#include "models/humming/late_decay.h"

namespace hum::app {

// The models are conditioned on at most this much sound.
inline constexpr double kReference_s = 5;
// The most that is used of several clips together, and the most clips.
inline constexpr double kClips_s = 30;
inline constexpr size_t kMostClips = 30;

// The file of a preset's reference. Weights from before the single notes hold the melody alone,
// without its notes.
std::filesystem::path reference_file(const std::filesystem::path& weights,
                                     const data::Preset& preset);

// The presets that these weights were trained on, which are those with a reference, in table order.
std::vector<const data::Preset*> known_presets(const std::filesystem::path& weights);

// Renders the melody of a preset's reference: 5 s on the sound font, at the level of training.
std::vector<float> render_reference(const data::Preset& preset, data::FluidRenderer& renderer);

// Eight pitches over the preset's range, from low to high, each softly and then loudly; one note
// every kStoredNote_s, which sounds for 0.8 s.
inline constexpr double kStoredNote_s = 1;
std::vector<audio::Note> single_notes(const data::Preset& preset);

// Renders and encodes a preset's whole reference, with its notes.
models::codec::TokenFile reference_tokens(const data::Preset& preset, data::FluidRenderer& renderer,
                                          const models::codec::CodecSession& codec);

// How the notes of a sound die away, one at a time. Shapes: samples [frames 441].
models::humming::LateDecay decay_of(std::span<const float> samples,
                                    std::span<const audio::Note> notes);
// How notes of a preset die away on the sound font.
models::humming::LateDecay preset_decay(const data::Preset& preset, data::FluidRenderer& renderer);

// The part of a recording that is used as a reference, in seconds of the recording.
struct ClipPart {
  std::string file;
  double recording_s = 0;
  double from_s = 0, to_s = 0;
  double read_from_s = 0, read_to_s = 0;  // of that: what conditions the models, whole frames
};

struct Clip {
  ClipPart part;
  std::vector<float> samples;  // of the part: mono, 22,050 Hz
};

// Reads recordings of one timbre, one after another. Of each it keeps the best 5 s, of more than
// six so much less that all are 30 s: from the first sound on, its best part. The models read 5 s
// of them, which the clips share fairly.
// Throws: kBadData for a recording of less than 1 s and what pipeline::checked_recording throws;
// what audio::read_mono throws.
std::vector<Clip> read_clips(std::span<const std::string> files, double max_seconds,
                             std::vector<std::string>& warnings);

// Splits `total` into equal shares. Who has less than that gives all, and the others share the
// rest.
std::vector<int64_t> fair_shares(std::span<const int64_t> sizes, int64_t total);

// The best `seconds` of a sound: of the parts that have a pitch for the longest time, the first; of
// noise, of those that sound. A frame of 20 ms sounds if it is within 30 dB of the
// loudest, and only then has a pitch. Returns the part's first sample. Units: samples at 22,050 Hz.
size_t best_part(std::span<const float> samples, double seconds);

// The notes of a clip as the models know them: one_line of what was heard, and as loud as the clip
// is there. (Basic Pitch's amplitudes are certainties.)
std::vector<audio::Note> clip_notes(std::span<const float> samples, std::vector<audio::Note> heard);

// One note at a time: of notes that overlap by more than half of the shorter one, keeps the surest.
// Basic Pitch often hears overtones as notes of their own.
std::vector<audio::Note> one_line(std::vector<audio::Note> notes);

// 1 for frames with at most one note, 0 for chords.
std::vector<uint8_t> frames_of_one_note(std::span<const audio::Note> notes, int64_t frames);

}  // namespace hum::app
