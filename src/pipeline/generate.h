// A melody played on an instrument: fixed windows through the models, stitched into one sound,
// brought to level. Concrete models come in as functions.
//
// T frames of a window, D latent size, M melody features, 441 samples a frame.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"
#include "pipeline/loop.h"
#include "pipeline/windows.h"

namespace hum::pipeline {

inline constexpr int64_t kWindowFrames = 300;
// The windows that Instrument::latents is asked for: window w begins at
// kLatentWindows.first_frame(w).
inline constexpr WindowLayout kLatentWindows{
    .window_frames = kWindowFrames, .context_frames = 50, .fade_frames = 20};
// How long an instrument may go on sounding after the last note.
inline constexpr double kMaxRelease_s = 2;

// Shapes: latents [T, D], melody [T, M], excitation [T 441], noise [T 441] -> [T 441].
using RenderFunction = std::function<std::vector<float>(
    std::span<const float> latents, std::span<const float> melody,
    std::span<const float> excitation, std::span<const float> noise)>;

struct Instrument {
  int64_t latent = 0;
  // Shapes: melody [T, M] -> [T, D]. `window` counts from 0: each draws tokens of its own. Only the
  // first `frames` rows are asked for: fewer may take less time, and but for their end are the
  // same.
  std::function<std::vector<float>(std::span<const float> melody, int64_t window, int64_t frames)>
      latents;
  RenderFunction render;
  // Called with (windows done, windows in all); may be empty.
  std::function<void(int64_t done, int64_t total)> progress;
  // Above 0: the first window is asked for so many frames before it is asked for whole, so that a
  // listener waits less.
  int64_t quick_frames = 0;
};

// Takes samples that are finished, in order.
using SampleSink = std::function<void(std::span<const float> samples)>;

// Melody features, excitation and noise are made for the whole piece and cut, so neither phase nor
// counts break at a seam. Latents are faded over 0.4 s in the middle of a 2 s overlap. Sound is
// rendered as soon as its latents are final, and handed out: 4.3 s of it after the first window.
// Rendering windows have half a second of context on each side, more than the decoder reaches.
// Shapes: mono at 22,050 Hz, from time 0 to kMaxRelease_s past the last note.
void play(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
          const SampleSink& sink);
std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed);

struct FinishOptions {
  int rate_hz = 44100;
  int channels = 1;
  std::optional<Loop> loop;  // the sound is made to repeat
};

// The sound as it is delivered: cut where the release after `melody_end_s` has died away (60 dB
// below the loudest), at the latest after kMaxRelease_s, faded at the end; resampled; wrapped into
// its loop; at -16 LUFS and a true peak of at most -1 dBTP.
audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options);

// A song under the melody, both from time 0: the melody is as loud as the song and `gain_db` more,
// both together at -16 LUFS, true peak at most -1 dBTP. The song is brought to the melody's rate.
audio::AudioBuffer with_backing(audio::AudioBuffer melody, const audio::AudioBuffer& backing,
                                double gain_db);

// Where the sound that play() made has died away after the melody, in samples.
int64_t end_of_release(std::span<const float> samples, double melody_end_s);
// Half a cosine down to zero over the last tenth of a second.
void fade_end(std::span<float> samples);

// End of the last note; 0 without notes.
double end_of(std::span<const audio::Note> notes);

}  // namespace hum::pipeline
