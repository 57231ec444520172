#include "pipeline/picture.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "audio/dsp.h"
#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "pipeline/pixel_text.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using Colour = std::array<uint8_t, 3>;

constexpr int kRate_hz = 22050, kWindow = 4096;
constexpr int kLowestPitch = 24, kHighestPitch = 124;  // 33 Hz to 10.5 kHz: of a sound alone
constexpr double kRange_db = 70;
constexpr Colour kOutline = {120, 255, 170}, kLine = {255, 255, 255}, kSung = {255, 200, 60};
constexpr Colour kInk = {0, 0, 0};
constexpr uint8_t kPaper = 255;
// Colours from silence to the loudest point.
constexpr std::array<Colour, 5> kColours = {
    {{8, 8, 24}, {50, 18, 90}, {150, 40, 110}, {235, 105, 70}, {252, 225, 150}}};

Colour colour_of(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (kColours.size() - 1);
  const size_t before = std::min(static_cast<size_t>(place), kColours.size() - 2);
  const double part = place - static_cast<double>(before);
  Colour result;
  for (size_t c = 0; c < 3; ++c) {
    result[c] = static_cast<uint8_t>(
        std::lround((1 - part) * kColours[before][c] + part * kColours[before + 1][c]));
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      result += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return result;
}

// Space for labels at the left and below.
constexpr int64_t kLeft = 36, kBelow = 20, kTick = 3;

// The pitches that an axis names: every C, and those of the notes.
std::set<int> named_pitches(std::span<const Note> notes, const PictureScale& scale) {
  std::set<int> pitches;
  for (int pitch = scale.low_pitch; pitch <= scale.high_pitch; ++pitch) {
    if (pitch % 12 == 0) pitches.insert(pitch);
  }
  for (const Note& note : notes) pitches.insert(note.pitch);
  return pitches;
}

std::vector<double> named_times(const PictureScale& scale) {
  std::vector<double> times;
  const double step_s = std::max(1.0, std::ceil(scale.seconds / 12));
  for (double at_s = 0; at_s <= scale.seconds; at_s += step_s) times.push_back(at_s);
  return times;
}

// The pitch as it was sung, if that is known and in the picture.
std::optional<double> sung_pitch(const Note& note, const PictureScale& scale) {
  if (note.hz <= 0) return std::nullopt;
  const double pitch = audio::hz_to_midi(note.hz);
  if (pitch < scale.low_pitch - 0.5 || pitch > scale.high_pitch + 0.5) return std::nullopt;
  return pitch;
}

std::string svg_note(const Note& note, const PictureScale& scale) {
  const double x = scale.x(note.start_s), end = scale.x(note.end_s);
  std::string out = fmt::format(
      "<rect class=\"note\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" fill=\"none\" "
      "stroke=\"#78ffaa\"/>\n",
      x, scale.y(note.pitch) - static_cast<double>(scale.row_height) / 2, end - x,
      scale.row_height);
  if (const auto sung = sung_pitch(note, scale)) {
    out += fmt::format(
        "<line class=\"sung\" x1=\"{:.2f}\" x2=\"{:.2f}\" y1=\"{:.2f}\" y2=\"{:.2f}\" "
        "stroke=\"#ffc83c\"/>\n",
        x, end, scale.y(*sung), scale.y(*sung));
  }
  out += "<polyline fill=\"none\" stroke=\"#ffffff\" points=\"";
  const auto points = std::max<int64_t>(2, static_cast<int64_t>(note.bends.size()));
  for (int64_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    const double at_s = note.start_s + share * (note.end_s - note.start_s);
    out += fmt::format("{:.2f},{:.2f} ", scale.x(at_s), scale.y(audio::pitch_at(note, at_s)));
  }
  return out + "\"/>\n";
}

std::string format_svg(const Image& spectrogram, std::span<const Note> notes,
                       const PictureScale& scale) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"9\">\n<g transform=\"translate({2} 0)\">\n"
      "<image width=\"{3}\" height=\"{4}\" href=\"data:image/png;base64,{5}\"/>\n",
      scale.width + kLeft, scale.height() + kBelow, kLeft, scale.width, scale.height(),
      base64(encode_png(spectrogram)));
  for (const Note& note : notes) out += svg_note(note, scale);
  for (const int pitch : named_pitches(notes, scale)) {
    out += fmt::format("<text x=\"-4\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       scale.y(pitch) + 3, audio::note_name(pitch));
  }
  for (const double at_s : named_times(scale)) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{:g} s</text>\n", scale.x(at_s),
                       scale.height() + 15, at_s);
  }
  return out + "</g>\n</svg>\n";
}

// The picture on a larger sheet, with names of pitches at the left and of seconds below.
Image with_axes(const Image& picture, std::span<const Note> notes, const PictureScale& scale) {
  Image sheet{picture.width + kLeft, picture.height + kBelow, {}};
  sheet.rgb.assign(static_cast<size_t>(3 * sheet.width * sheet.height), kPaper);
  for (int64_t y = 0; y < picture.height; ++y) {
    std::copy_n(picture.rgb.begin() + 3 * y * picture.width, 3 * picture.width,
                sheet.rgb.begin() + 3 * (y * sheet.width + kLeft));
  }
  for (const int pitch : named_pitches(notes, scale)) {
    const auto y = static_cast<int64_t>(scale.y(pitch));
    const std::string name = audio::note_name(pitch);
    for (int64_t x = kLeft - kTick; x < kLeft; ++x) set_pixel(sheet, x, y, kInk);
    draw_text(sheet, kLeft - kTick - 1 - text_width(name), y - kTextHeight / 2, name, kInk);
  }
  for (const double at_s : named_times(scale)) {
    const int64_t x = kLeft + static_cast<int64_t>(scale.x(at_s));
    for (int64_t y = 0; y < kTick; ++y) set_pixel(sheet, x, picture.height + y, kInk);
    draw_text(sheet, x, picture.height + kTick + 2, fmt::format("{:g} s", at_s), kInk);
  }
  return sheet;
}

}  // namespace

void set_pixel(Image& image, int64_t x, int64_t y, const Colour& colour) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  std::ranges::copy(colour, image.rgb.begin() + 3 * (y * image.width + x));
}

PictureScale scale_of(std::span<const Note> notes, double seconds) {
  if (notes.empty()) return {seconds, kLowestPitch, kHighestPitch, 1200, 4};
  PictureScale scale{.seconds = seconds};
  const auto [lowest, highest] = std::ranges::minmax_element(notes, {}, &Note::pitch);
  scale.low_pitch = std::max(0, lowest->pitch - 3);
  scale.high_pitch = std::min(127, highest->pitch + 24);
  return scale;
}

Image draw_spectrogram(const audio::AudioBuffer& sound, const PictureScale& scale) {
  const auto mono = audio::resample(audio::to_mono(sound), kRate_hz).samples;
  const int hop = std::max<int>(64, static_cast<int>(scale.seconds * kRate_hz / scale.width));
  const auto power = audio::spectrogram(mono, {.window_samples = kWindow, .hop_samples = hop}, 2);
  float loudest = 0;
  for (const float value : power.values) loudest = std::max(loudest, value);
  Image image{scale.width, scale.height(), {}};
  image.rgb.resize(static_cast<size_t>(3 * image.width * image.height));
  for (int64_t y = 0; y < image.height; ++y) {
    const double pitch = scale.high_pitch + 0.5 -
                         (static_cast<double>(y) + 0.5) / static_cast<double>(scale.row_height);
    const double place = audio::midi_to_hz(pitch) * kWindow / kRate_hz;
    if (place + 1 >= static_cast<double>(power.columns)) continue;
    const auto bin = static_cast<int64_t>(place);
    const double part = place - static_cast<double>(bin);
    for (int64_t x = 0; x < image.width; ++x) {
      const double at_s =
          (static_cast<double>(x) + 0.5) / static_cast<double>(image.width) * scale.seconds;
      const int64_t frame = std::min<int64_t>(power.rows - 1, std::llround(at_s * kRate_hz / hop));
      const double value = (1 - part) * power(frame, bin) + part * power(frame, bin + 1);
      const double below_db =
          loudest > 0 ? 10 * std::log10(loudest / std::max(value, 1e-20)) : kRange_db;
      set_pixel(image, x, y, colour_of(1 - below_db / kRange_db));
    }
  }
  return image;
}

void draw_notes(Image& image, std::span<const Note> notes, const PictureScale& scale) {
  for (const Note& note : notes) {
    const auto left = static_cast<int64_t>(scale.x(note.start_s));
    const auto right = static_cast<int64_t>(scale.x(note.end_s));
    const int64_t top = scale.row_height * (scale.high_pitch - note.pitch);
    const auto sung = sung_pitch(note, scale);
    for (int64_t x = left; x <= right; ++x) {
      set_pixel(image, x, top, kOutline);
      set_pixel(image, x, top + scale.row_height - 1, kOutline);
      if (sung) set_pixel(image, x, static_cast<int64_t>(scale.y(*sung)), kSung);
      const double at_s = static_cast<double>(x) / static_cast<double>(scale.width) * scale.seconds;
      set_pixel(image, x, static_cast<int64_t>(scale.y(audio::pitch_at(note, at_s))), kLine);
    }
    for (int64_t y = top; y < top + scale.row_height; ++y) {
      set_pixel(image, left, y, kOutline);
      set_pixel(image, right, y, kOutline);
    }
  }
}

std::string encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  auto encode = [&](void* to) {
    const int done = png_image_write_to_memory(&png, to, &size, 0, image.rgb.data(), 0, nullptr);
    HUM_CHECK(done != 0, "libpng: {}", png.message);
  };
  encode(nullptr);
  std::string bytes(size, '\0');
  encode(bytes.data());
  bytes.resize(size);
  return bytes;
}

void write_picture(const std::filesystem::path& path, std::span<const Note> notes,
                   const audio::AudioBuffer& sound) {
  const PictureScale scale = scale_of(notes, sound.seconds());
  Image image = draw_spectrogram(sound, scale);
  const std::string extension = audio::extension_of(path);
  if (extension == ".svg") return write_file(path, format_svg(image, notes, scale));
  if (extension != ".png") {
    fail(ExitCode::kUsage, path.string() + ": pictures must be .png or .svg",
         "--picture notes.png");
  }
  draw_notes(image, notes, scale);
  write_file(path, encode_png(with_axes(image, notes, scale)));
}

}  // namespace hum::pipeline
