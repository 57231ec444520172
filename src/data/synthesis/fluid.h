// Notes rendered with a General MIDI sound font by libfluidsynth, offline and dry.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {

// Expression (controller 11) of all notes from `time_s` on; 1 is full.
struct ExpressionPoint {
  double time_s;
  double value;
};

// As a program: General MIDI's drum kit, whose keys are its drums.
inline constexpr int kDrumKit = 128;

// Renders one thing at a time; several renderers may work in several threads (the font's samples
// are shared). FluidSynth runs at 44,100 Hz and the result is halved with soxr, since its
// interpolator does not band-limit. Events fall on FluidSynth's blocks: at most 0.73 ms from their
// time. The same call gives the same samples, whatever was rendered before.
class FluidRenderer {
 public:
  // Throws: kNoInput when missing, kBadData when it is no sound font.
  explicit FluidRenderer(const std::filesystem::path& sound_font = sound_font_path());
  ~FluidRenderer();
  FluidRenderer(const FluidRenderer&) = delete;
  FluidRenderer& operator=(const FluidRenderer&) = delete;

  // `program`: General MIDI, 0-based, or kDrumKit. Velocity is 127 * amplitude; bends reach 12
  // semitones each way, each note on its own channel. Notes start at 0 or later; what lies after
  // `seconds` is cut. Shapes: [seconds * 22050], mono. Throws: kBadData when the font lacks the
  // program.
  std::vector<float> render(std::span<const audio::Note> notes, int program, double seconds,
                            std::span<const ExpressionPoint> expression = {});
  // The same in two channels, whose mean is what render() gives.
  audio::AudioBuffer render_stereo(std::span<const audio::Note> notes, int program, double seconds,
                                   std::span<const ExpressionPoint> expression = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
