// Sizes of the humming models: guided decoder (voice), upsampler, coarse LM.
#pragma once

#include <cstdint>

#include "audio/channels.h"
#include "base/bounds.h"
#include "base/fields.h"
#include "nn/transformer.h"

namespace hum::models::humming {

// Sizes that all three share: the codec's latents and tokens, and the melody features
// (data/synthesis/features.h). For two channels the upsampler and the coarse LM see one sequence
// with interleaved books and concatenated latents; books and latent count those of both channels.
// The voice plays one channel at a time and is mono.
struct CommonConfig {
  audio::Channels channels = audio::Channels::kMono;
  int64_t latent = 64;
  int64_t books = 8;
  int64_t entries = 1024;
  int64_t melody_features = 9;

  template <class V>
  void visit_fields(V& v) {
    v("channels", channels,
      "channels of the sound: mono, or stereo coded as left_right or mid_side");
    v("latent", latent, "size of the codec's latent vectors, of all channels together");
    v("books", books, "the codec's codebooks, of all channels together");
    v("entries", entries, "entries of each codebook");
    v("melody_features", melody_features,
      "melody features per frame: 9, or 13 with counts up to 6 s and the previous note");
  }
};

// What is told of a melody may have more features than a model reads, which are the first ones of
// each frame: a model of 9 and one of 13 play in one program.
inline constexpr int64_t kAllMelodyFeatures = 13;

// Columns of the melody features that models read separately: (MIDI pitch - 64) / 32, 1 in frames
// of a note, 1 in the first frame of a note, and counts of frames since the onset and since the
// end: log(1 + n) / log(1 + kMelodyCountFrames), at most 1.
inline constexpr int64_t kMelodyPitch = 0, kMelodySounding = 3, kMelodyOnset = 4,
                         kMelodySinceOnset = 5, kMelodySinceEnd = 7;
inline constexpr int64_t kMelodyCountFrames = 50;
// Of all features: frames since the onset, and since the end, / kMelodyLongCountFrames, at most 1.
inline constexpr int64_t kMelodyLongSinceOnset = 9, kMelodyLongSinceEnd = 10,
                         kMelodyLongCountFrames = 300;

// No melody is played for longer after its last note.
inline constexpr double kMaxExcitationTail_s = 2;

struct VoiceConfig {
  CommonConfig common;
  int64_t width = 256;
  int64_t blocks = 5;
  int64_t fine_width = 192;
  int64_t fine_blocks = 3;
  int64_t fine_window_samples = 588;
  double excitation_dropout = 0.2;
  // How long the excitation outlasts a note (data/synthesis/excitation.h).
  double excitation_tail_s = 0.25;
  // Adds sound that follows no excitation, for partials that are not harmonic and for beats, and
  // its lowest bins from a longer window, as the codec's low_bins.
  bool free_branch = false;
  int64_t free_low_bins = 0;
  // Of the training loss (nn/spectral_loss.h).
  double balance_weight = 0.1;
  double floor_db = 60;
  // Of the loss of notes' onsets (nn/onset_loss.h); 0 disables it.
  double onset_weight = 0;

  template <class V>
  void visit_fields(V& v) {
    v("common", common, "shared sizes");
    v("width", width, "width of the blocks at 50 frames/s");
    v("blocks", blocks, "number of blocks at 50 frames/s");
    v("fine_width", fine_width, "width of the blocks at 150 frames/s");
    v("fine_blocks", fine_blocks, "number of blocks at 150 frames/s");
    v("fine_window_samples", fine_window_samples, "spectrum window at 150 frames/s");
    v("excitation_dropout", excitation_dropout, "share of training items without excitation");
    v("excitation_tail_s", excitation_tail_s,
      "seconds that the excitation outlasts a note; above 0.25 it decays by 60 dB");
    v("free_branch", free_branch, "add sound that follows no excitation: other partials, beats");
    v("free_low_bins", free_low_bins,
      "the free branch's bins of 12.5 Hz from a window of 80 ms (0: none)");
    v("balance_weight", balance_weight, "weight of the loss's balance of half-octaves");
    v("floor_db", floor_db, "the loss ignores what is this far below a clip's peak");
    v("onset_weight", onset_weight, "weight of the loss of how clearly notes begin (0: none)");
  }
};

// What the upsampler takes from the timbre reference (timbre_encoder.h).
enum class TimbreKind {
  kPooled,    // its mean and deviation over time
  kAttended,  // those, and its frames with their notes
};
inline EnumNames<TimbreKind> enum_names(TimbreKind) {
  static constexpr std::pair<TimbreKind, std::string_view> kNames[] = {
      {TimbreKind::kPooled, "pooled"}, {TimbreKind::kAttended, "attended"}};
  return kNames;
}

struct UpsamplerConfig {
  CommonConfig common;
  int64_t width = 256;
  int64_t blocks = 8;
  // Books 2..classified_books are predicted as tokens; the rest, at least one, as one regressed
  // vector.
  int64_t classified_books = 3;
  TimbreKind timbre = TimbreKind::kPooled;

  template <class V>
  void visit_fields(V& v) {
    v("common", common, "shared sizes");
    v("width", width, "width of the blocks");
    v("blocks", blocks, "number of blocks");
    v("classified_books", classified_books, "books 2..this are predicted as tokens");
    v("timbre", timbre,
      "pooled: mean and deviation of the timbre reference; attended: also its frames and notes");
  }
};

// The conditioning of the coarse LM on melody and timbre.
enum class ConditioningKind {
  // Adds the melody to each step of the same time; the reference is a short prefix and, pooled, a
  // FiLM condition; also uses the draft.
  kAligned,
  // The baseline, as in VALL-E: a prefix of melody tokens in place of phonemes, then of the
  // acoustic
  // prompt. Source: Wang et al. 2023, "Neural codec language models".
  kPrefix,
};
inline EnumNames<ConditioningKind> enum_names(ConditioningKind) {
  static constexpr std::pair<ConditioningKind, std::string_view> kNames[] = {
      {ConditioningKind::kAligned, "aligned"}, {ConditioningKind::kPrefix, "prefix"}};
  return kNames;
}

// The coarse LM. The transformer has the published size; the conditioning counts separately.
struct CoarseConfig {
  CommonConfig common;
  nn::TransformerConfig transformer;
  // Number of books that the LM predicts, each one frame after the previous one (MusicGen's delay
  // pattern).
  int64_t coarse_books = 1;
  // Codebook entries and the start token; at least entries + 1.
  int64_t vocabulary = 1025;
  ConditioningKind conditioning = ConditioningKind::kAligned;
  // Aligned conditioning: averages reference frames in groups of this size for the prefix.
  int64_t prefix_group = 5;
  int64_t melody_blocks = 3;
  int64_t melody_width = 256;
  // Weight of the L1 between the expected and the true code vector, in addition to cross-entropy.
  double reconstruction_weight = 0.5;
  // Share of training items without melody / without timbre, for classifier-free guidance.
  double condition_dropout = 0.1;
  // Aligned conditioning: without the timbre there is no draft either, which knows the timbre too.
  // Else the prefix of reference frames learns little, since the draft says it all.
  bool draft_follows_timbre = false;

  template <class V>
  void visit_fields(V& v) {
    v("common", common, "shared sizes");
    v("transformer", transformer, "the decoder");
    v("coarse_books", coarse_books, "books predicted by the LM");
    v("vocabulary", vocabulary, "tokens of each book's table, start token included");
    v("conditioning", conditioning, "aligned, or prefix (the VALL-E-style baseline)");
    v("prefix_group", prefix_group, "aligned: reference frames averaged into one prefix position");
    v("melody_blocks", melody_blocks, "aligned: look-ahead blocks over the melody");
    v("melody_width", melody_width, "aligned: width of the look-ahead blocks");
    v("reconstruction_weight", reconstruction_weight, "weight of the code-vector loss");
    v("condition_dropout", condition_dropout, "share of training items without a condition");
    v("draft_follows_timbre", draft_follows_timbre,
      "aligned: leave the draft out together with the timbre reference");
  }
};

// Throws: kConfig for sizes and shares that are out of range or do not fit each other.
void validate(const VoiceConfig& config, const Bounds& bounds);
void validate(const UpsamplerConfig& config, const Bounds& bounds);
void validate(const CoarseConfig& config, const Bounds& bounds);

}  // namespace hum::models::humming
