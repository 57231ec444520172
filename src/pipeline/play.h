// Plays melodies on an instrument: runs fixed windows through the models and stitches them into one
// sound. Callers pass the models as functions, which take several windows per call.
//
// T frames of a window, D latent size, M melody features of all sets (data/synthesis/features.h),
// 441 samples a frame.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/excitation.h"
#include "pipeline/decay.h"
#include "pipeline/windows.h"

namespace hum::pipeline {

// The longest release of an instrument after the last note.
inline constexpr double kMaxRelease_s = 2;

// The input of Instrument::latents. Only the first `frames` rows are needed: fewer may take less
// time and have the same values, except at their end.
struct LatentWindow {
  std::vector<float> melody;  // [T, M]
  uint64_t seed = 0;          // of the piece
  int64_t window = 0;         // counts from 0; each window draws its own tokens
  int64_t frames = kWindowFrames;
};

// The input of a RenderFunction. Shapes: [T, D], [T, M], [T 441], [T 441].
struct SoundWindow {
  std::vector<float> latents, melody, excitation, noise;
};

// Shapes: n -> n of [T 441, channels].
using RenderFunction = std::function<std::vector<std::vector<float>>(std::span<const SoundWindow>)>;

struct Instrument {
  int64_t latent = 0;
  // The result of a window does not depend on the others of the call. Shapes: n -> n of [T, D].
  std::function<std::vector<std::vector<float>>(std::span<const LatentWindow>)> latents;
  RenderFunction render;
  int channels = 1;  // of the rendered sound
  // Of the excitation that `render` was trained on.
  double excitation_tail_s = data::kExcitationTail_s;
  // The preferred number of windows per call. Fewer windows than that in total are requested one by
  // one, so that all short melodies use the same programs.
  int64_t together = 1;
  // Applied to the sound of `render`; may be empty.
  DecayFunction decay_db = {};
  // Called with (windows done, total windows); may be empty.
  std::function<void(int64_t done, int64_t total)> progress;
  // Above 0: a stream first requests this many frames of the first window and then the whole
  // window, so that a listener waits less.
  int64_t quick_frames = 0;
};

// Calls `one` for each window.
template <typename Window, typename One>
auto one_by_one(One one) {
  return [one = std::move(one)](std::span<const Window> windows) {
    std::vector<std::vector<float>> results;
    for (const Window& window : windows) results.push_back(one(window));
    return results;
  };
}

// One melody to play. The seed determines its noise and tokens.
struct Piece {
  std::vector<audio::Note> notes;
  uint64_t seed = 0;
};

// The number of latent windows of a piece.
int64_t windows_of(std::span<const audio::Note> notes);

// Makes melody features, excitation and noise for the whole piece and cuts them, so that phase and
// counts are continuous at seams. Fades latents over 0.4 s in the middle of a 2 s overlap.
// Rendering windows have half a second of context on each side, more than the decoder's reach.
// Windows of all pieces go through the models together. Shapes: -> one per piece, the instrument's
// channels interleaved at 22,050 Hz, from time 0 to kMaxRelease_s after the last note.
std::vector<std::vector<float>> play(std::span<const Piece> pieces, const Instrument& instrument);
std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed);

// Receives finished samples in order.
using SampleSink = std::function<void(std::span<const float> samples)>;

// Plays the same sound window by window: renders each as soon as its latents are final and hands it
// out; the first window gives 4.3 s.
void play(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
          const SampleSink& sink);

// The same, and returns the samples that the first play() returns: a part that was handed out early
// (Instrument::quick_frames) is rendered once more with the rest of its window, because a seam in
// another place rounds differently.
std::vector<float> play_and_keep(std::span<const audio::Note> notes, const Instrument& instrument,
                                 uint64_t seed, const SampleSink& sink);

// End of the last note; 0 without notes.
double end_of(std::span<const audio::Note> notes);

}  // namespace hum::pipeline
