// Draws the played notes as a piano roll over the sound's spectrogram.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"

namespace hum::pipeline {

struct Image {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  // rows from the top
};

// Time runs to the right and pitch upwards in semitones, with one scale for notes and spectrogram.
struct PictureScale {
  double seconds = 1;
  int low_pitch = 48, high_pitch = 84;  // both included
  int64_t width = 1200, row_height = 8;

  int64_t height() const { return row_height * (high_pitch - low_pitch + 1); }
  double x(double time_s) const { return time_s / seconds * static_cast<double>(width); }
  // The middle of a pitch's row; fractions of a semitone are between rows.
  double y(double pitch) const {
    return static_cast<double>(row_height) * (high_pitch - pitch + 0.5);
  }
};

// A scale with room for all notes and two octaves of overtones above them; without notes, for
// nearly all that sounds.
PictureScale scale_of(std::span<const audio::Note> notes, double seconds);

// Draws the loudest point light and points 70 dB below it dark. Shapes: one or more channels, which
// are mixed.
Image draw_spectrogram(const audio::AudioBuffer& sound, const PictureScale& scale);
// Does nothing outside the image.
void set_pixel(Image& image, int64_t x, int64_t y, const std::array<uint8_t, 3>& colour);
// Draws outlines of notes, with a yellow line for the pitch that was sung, if it is known, and a
// white one for the pitch that is played, with its bends.
void draw_notes(Image& image, std::span<const audio::Note> notes, const PictureScale& scale);

std::string encode_png(const Image& image);

// Writes .png or .svg by the extension, with axes that name every C, the notes' pitches and
// seconds. Writes a temporary file and renames it. Throws: kUsage for other extensions,
// kCannotCreate.
void write_picture(const std::filesystem::path& path, std::span<const audio::Note> notes,
                   const audio::AudioBuffer& sound);

}  // namespace hum::pipeline
