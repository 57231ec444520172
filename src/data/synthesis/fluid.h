// Renders notes with a General MIDI sound font by libfluidsynth, offline and without effects.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {

// Sets the expression (controller 11) of all notes from `time_s`; 1 is full.
struct ExpressionPoint {
  double time_s;
  double value;
};

// The program number for General MIDI's drum kit, whose keys are its drums. kDrumKit + k is kit k
// of fonts that have several.
inline constexpr int kDrumKit = 128;

// Renders one sound at a time; each thread can have its own renderer (they share the font's
// samples). FluidSynth runs at 44,100 Hz, and soxr halves the rate, because FluidSynth's
// interpolator does not band-limit. Events are at FluidSynth's blocks, at most 0.73 ms from their
// time. The same call gives the same samples, whatever was rendered before.
class FluidRenderer {
 public:
  // Throws: kNoInput when the file is missing, kBadData when it is not a sound font.
  explicit FluidRenderer(const std::filesystem::path& sound_font = sound_font_path());
  ~FluidRenderer();
  FluidRenderer(const FluidRenderer&) = delete;
  FluidRenderer& operator=(const FluidRenderer&) = delete;

  // Whether the font has a program or kit.
  bool has(int program) const;

  // `program`: General MIDI, 0-based, or of kits. Velocity is 127 * amplitude; bends reach 12
  // semitones each way, with each note on its own channel. Notes start at 0 or later; cuts the
  // sound at `seconds`. Shapes: [seconds * 22050], mono. Throws: kBadData when the font lacks the
  // program.
  std::vector<float> render(std::span<const audio::Note> notes, int program, double seconds,
                            std::span<const ExpressionPoint> expression = {});
  // The same in two channels, whose mean is the result of render().
  audio::AudioBuffer render_stereo(std::span<const audio::Note> notes, int program, double seconds,
                                   std::span<const ExpressionPoint> expression = {});
  // The two channels at 44,100 Hz, before soxr halves the rate. Shapes: [2 * [seconds * 22050], 2].
  audio::AudioBuffer render_full_rate(std::span<const audio::Note> notes, int program,
                                      double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
