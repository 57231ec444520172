// Melodies played on an instrument: fixed windows through the models, stitched into one sound.
// Concrete models come in as functions, which take several windows in a call.
//
// T frames of a window, D latent size, M melody features, 441 samples a frame.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "pipeline/windows.h"

namespace hum::pipeline {

inline constexpr int64_t kWindowFrames = 300;
// The windows that Instrument::latents is asked for: window w begins at
// kLatentWindows.first_frame(w).
inline constexpr WindowLayout kLatentWindows{
    .window_frames = kWindowFrames, .context_frames = 50, .fade_frames = 20};
// How long an instrument may go on sounding after the last note.
inline constexpr double kMaxRelease_s = 2;

// What the models are told to make latents. Only the first `frames` rows are asked for: fewer may
// take less time, and but for their end are the same.
struct LatentWindow {
  std::vector<float> melody;  // [T, M]
  uint64_t seed = 0;          // of the piece
  int64_t window = 0;         // counts from 0: each draws tokens of its own
  int64_t frames = kWindowFrames;
};

// What they are told to make sound. Shapes: [T, D], [T, M], [T 441], [T 441].
struct SoundWindow {
  std::vector<float> latents, melody, excitation, noise;
};

// Shapes: n -> n of [T 441, channels].
using RenderFunction = std::function<std::vector<std::vector<float>>(std::span<const SoundWindow>)>;

struct Instrument {
  int64_t latent = 0;
  // What comes out of a window does not depend on the others of the call. Shapes: n -> n of [T, D].
  std::function<std::vector<std::vector<float>>(std::span<const LatentWindow>)> latents;
  RenderFunction render;
  int channels = 1;  // of what it renders
  // How many windows it likes to be asked for in a call. Fewer than that in all are asked for one
  // by one, so that a short melody needs no other programs than a shorter one.
  int64_t together = 1;
  // Called with (windows done, windows in all); may be empty.
  std::function<void(int64_t done, int64_t total)> progress;
  // Above 0: the first window of a stream is asked for so many frames before it is asked for whole,
  // so that a listener waits less.
  int64_t quick_frames = 0;
};

// `one` for each window by itself.
template <typename Window, typename One>
auto one_by_one(One one) {
  return [one = std::move(one)](std::span<const Window> windows) {
    std::vector<std::vector<float>> results;
    for (const Window& window : windows) results.push_back(one(window));
    return results;
  };
}

// One melody to play. The seed is that of its noise and tokens.
struct Piece {
  std::vector<audio::Note> notes;
  uint64_t seed = 0;
};

// Windows of a piece that latents are made of.
int64_t windows_of(std::span<const audio::Note> notes);

// Melody features, excitation and noise are made for the whole piece and cut, so neither phase nor
// counts break at a seam. Latents are faded over 0.4 s in the middle of a 2 s overlap. Rendering
// windows have half a second of context on each side, more than the decoder reaches. Windows of all
// pieces go through the models together. Shapes: -> one a piece, the instrument's channels
// interleaved at 22,050 Hz, from time 0 to kMaxRelease_s past the last note.
std::vector<std::vector<float>> play(std::span<const Piece> pieces, const Instrument& instrument);
std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed);

// Takes samples that are finished, in order.
using SampleSink = std::function<void(std::span<const float> samples)>;

// The same sound, one window after another: rendered as soon as its latents are final, and handed
// out, 4.3 s of it after the first window.
void play(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
          const SampleSink& sink);

// End of the last note; 0 without notes.
double end_of(std::span<const audio::Note> notes);

}  // namespace hum::pipeline
