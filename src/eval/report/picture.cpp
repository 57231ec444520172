#include "eval/report/picture.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "audio/dsp.h"

namespace hum::eval {
namespace {

constexpr int kLowestPitch = 33, kHighestPitch = 114;  // MIDI: 55 Hz to 5.9 kHz
constexpr int kRowsPerSemitone = 2;
constexpr int kRows = (kHighestPitch - kLowestPitch) * kRowsPerSemitone;
constexpr double kFramesPerSecond = 40;
constexpr double kRange_db = 60;
constexpr int kWindowSamples = 4096;

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

// Levels 0..255, row 0 the lowest pitch. Shapes: [rows, frames].
audio::Matrix<uint8_t> levels_of(std::span<const float> samples, int rate_hz) {
  const auto hop = static_cast<int>(rate_hz / kFramesPerSecond);
  const auto spectrum =
      audio::spectrogram(samples, {.window_samples = kWindowSamples, .hop_samples = hop}, 1);
  audio::Matrix<uint8_t> levels(kRows, spectrum.rows);
  const float loudest = spectrum.values.empty() ? 0 : *std::ranges::max_element(spectrum.values);
  if (loudest == 0) return levels;
  for (int64_t row = 0; row < kRows; ++row) {
    const double pitch = kLowestPitch + static_cast<double>(row) / kRowsPerSemitone;
    const double bin = audio::midi_to_hz(pitch) * kWindowSamples / rate_hz;
    const auto below = static_cast<int64_t>(bin);
    if (below + 1 >= spectrum.columns) break;
    for (int64_t t = 0; t < spectrum.rows; ++t) {
      const double size = std::max(spectrum(t, below), spectrum(t, below + 1));
      const double db = 20 * std::log10(std::max(size / loudest, 1e-6));
      levels(row, t) = static_cast<uint8_t>(255 * std::clamp(1 + db / kRange_db, 0.0, 1.0));
    }
  }
  return levels;
}

void append(std::string& bytes, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
}

// A Windows bitmap of 8 bits a pixel, from white to dark blue; its rows go upwards.
std::string bitmap_of(const audio::Matrix<uint8_t>& levels) {
  constexpr uint32_t kHeaderBytes = 14 + 40 + 4 * 256;
  const auto width = static_cast<uint32_t>(levels.columns);
  const auto height = static_cast<uint32_t>(levels.rows);
  const uint32_t stride = (width + 3) / 4 * 4;
  std::string bytes = "BM";
  append(bytes, kHeaderBytes + stride * height, 4);
  append(bytes, 0, 4);
  append(bytes, kHeaderBytes, 4);
  for (const uint32_t value : {40U, width, height}) append(bytes, value, 4);
  append(bytes, 1, 2);
  append(bytes, 8, 2);
  for (const uint32_t value : {0U, stride * height, 2835U, 2835U, 256U, 256U}) {
    append(bytes, value, 4);
  }
  for (uint32_t i = 0; i < 256; ++i) {  // blue, green, red
    append(bytes, 255 - i * 140 / 255, 1);
    append(bytes, 255 - i * 215 / 255, 1);
    append(bytes, 255 - i * 245 / 255, 1);
    append(bytes, 0, 1);
  }
  for (int64_t row = 0; row < levels.rows; ++row) {
    const auto pixels = levels.row(row);
    bytes.append(reinterpret_cast<const char*>(pixels.data()), pixels.size());
    bytes.append(stride - width, '\0');
  }
  return bytes;
}

std::string note_path(const audio::Note& note) {
  std::string path;
  const int steps = note.bends.empty() ? 1 : 12;
  for (int i = 0; i <= steps; ++i) {
    const double time_s = note.start_s + (note.end_s - note.start_s) * i / steps;
    const double y = kRowsPerSemitone * (kHighestPitch - pitch_at(note, time_s)) - 0.5;
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", time_s * kFramesPerSecond, y);
  }
  return path;
}

}  // namespace

std::string picture_svg(std::span<const float> samples, int rate_hz,
                        std::span<const audio::Note> notes) {
  const auto levels = levels_of(samples, rate_hz);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{2}" height="{1}" preserveAspectRatio="none">)"
      R"(<image width="{0}" height="{1}" preserveAspectRatio="none" href="data:image/bmp;base64,{3}"/>)"
      R"(<path fill="none" stroke="#e4572e" stroke-width="1.6" d=")",
      levels.columns, kRows, 2 * levels.columns, base64(bitmap_of(levels)));
  for (const auto& note : notes) svg += note_path(note);
  return svg + "\"/></svg>\n";
}

}  // namespace hum::eval
