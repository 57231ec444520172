#include "pipeline/picture.h"

#include <gmock/gmock.h>
#include <png.h>
#include <unistd.h>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"

namespace hum::pipeline {
namespace {

namespace fs = std::filesystem;
using audio::Note;

const std::vector<Note> kNotes = {{0.5, 1.0, 69, 0.6, {}}, {1.0, 1.5, 72, 0.6, {0, 3, 3}}};

// The lightness of the pixel at a time and a pitch.
int light(const Image& image, const PictureScale& scale, double time_s, double pitch) {
  const auto x = static_cast<int64_t>(scale.x(time_s)), y = static_cast<int64_t>(scale.y(pitch));
  const auto* pixel = image.rgb.data() + 3 * (y * image.width + x);
  return pixel[0] + pixel[1] + pixel[2];
}

Image decoded(const std::string& bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()), 0);
  png.format = PNG_FORMAT_RGB;
  Image image{png.width, png.height, std::vector<uint8_t>(PNG_IMAGE_SIZE(png))};
  EXPECT_NE(png_image_finish_read(&png, nullptr, image.rgb.data(), 0, nullptr), 0);
  return image;
}

audio::AudioBuffer concert_a() { return {44100, 1, audio::tone(440, 2, 44100)}; }

TEST(Picture, HasRoomForTheNotesAndTheirOvertones) {
  const auto scale = scale_of(kNotes, 2);
  EXPECT_EQ(scale.low_pitch, 66);
  EXPECT_EQ(scale.high_pitch, 96);
  EXPECT_DOUBLE_EQ(scale.x(1), 600);
  EXPECT_LT(scale.y(72), scale.y(69));
  EXPECT_GT(scale_of({}, 2).height(), 0);
  EXPECT_LT(scale_of({}, 2).low_pitch, scale.low_pitch);
  EXPECT_GT(scale_of({}, 2).high_pitch, scale.high_pitch);
}

TEST(Picture, ShowsATuneWhereItSounds) {
  const auto scale = scale_of(kNotes, 2);
  const Image image = draw_spectrogram(concert_a(), scale);
  for (const double at_s : {0.3, 1.0, 1.7}) {
    EXPECT_GT(light(image, scale, at_s, 69), 500);
    EXPECT_LT(light(image, scale, at_s, 75), 250);
    EXPECT_LT(light(image, scale, at_s, 90), 250);
  }
}

TEST(Picture, DrawsNotesWhereTheyAre) {
  const auto scale = scale_of(kNotes, 2);
  Image image{scale.width, scale.height(), {}};
  image.rgb.resize(static_cast<size_t>(3 * image.width * image.height));
  draw_notes(image, kNotes, scale);
  EXPECT_EQ(light(image, scale, 0.75, 69), 3 * 255);  // the line of its pitch
  EXPECT_GT(light(image, scale, 0.5, 69), 0);         // its edges
  EXPECT_EQ(light(image, scale, 0.75, 70), 0);
  EXPECT_EQ(light(image, scale, 1.4, 73), 3 * 255);  // bent up a semitone
  EXPECT_EQ(light(image, scale, 0.2, 69), 0);
}

TEST(Picture, PngHoldsTheSamePixels) {
  const Image image = draw_spectrogram(concert_a(), scale_of(kNotes, 2));
  const Image read = decoded(encode_png(image));
  EXPECT_EQ(read.width, image.width);
  EXPECT_EQ(read.height, image.height);
  EXPECT_EQ(read.rgb, image.rgb);
}

TEST(Picture, DrawsTheSungPitchBesideThePlayedOne) {
  const auto scale = scale_of(kNotes, 2);
  Image image{scale.width, scale.height(), {}};
  image.rgb.resize(static_cast<size_t>(3 * image.width * image.height));
  auto notes = kNotes;
  notes[0].hz = audio::midi_to_hz(69.3);
  notes[1].hz = 20;  // outside the picture
  draw_notes(image, notes, scale);
  EXPECT_EQ(light(image, scale, 0.75, 69), 3 * 255);
  EXPECT_EQ(light(image, scale, 0.75, 69.3), 255 + 200 + 60);
}

// The share of dark pixels in a part of the picture that write_picture makes.
double dark_share(const Image& image, int64_t left, int64_t top, int64_t right, int64_t bottom) {
  int64_t dark = 0;
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x) {
      dark += image.rgb[static_cast<size_t>(3 * (y * image.width + x))] < 128 ? 1 : 0;
    }
  }
  return static_cast<double>(dark) / static_cast<double>((right - left) * (bottom - top));
}

TEST(Picture, PngHasAxesWithNamesOfNotesAndSeconds) {
  const fs::path path = fs::temp_directory_path() / fmt::format("hum-picture-{}.png", getpid());
  write_picture(path, kNotes, concert_a());
  const Image image = decoded(read_file(path));
  fs::remove(path);
  const auto scale = scale_of(kNotes, 2);
  ASSERT_GT(image.width, scale.width);
  ASSERT_GT(image.height, scale.height());
  const int64_t left = image.width - scale.width;
  for (const int pitch : {69, 72, 84}) {  // those of the notes, and a C
    const auto y = static_cast<int64_t>(scale.y(pitch));
    EXPECT_GT(dark_share(image, 0, y - 3, left, y + 4), 0.1) << pitch;
  }
  const auto unnamed = static_cast<int64_t>(scale.y(79));
  EXPECT_EQ(dark_share(image, 0, unnamed - 3, left, unnamed + 4), 0);
  for (const double at_s : {0.0, 1.0}) {
    const int64_t x = left + static_cast<int64_t>(scale.x(at_s));
    EXPECT_GT(dark_share(image, x, scale.height(), x + 18, image.height), 0.05) << at_s;
  }
}

TEST(Picture, SvgHasANoteARectangle) {
  const fs::path path = fs::temp_directory_path() / fmt::format("hum-picture-{}.svg", getpid());
  write_picture(path, kNotes, concert_a());
  const std::string text = read_file(path);
  fs::remove(path);
  size_t rectangles = 0;
  for (size_t at = text.find("class=\"note\""); at != text.npos;
       at = text.find("class=\"note\"", at + 1)) {
    ++rectangles;
  }
  EXPECT_EQ(rectangles, kNotes.size());
  EXPECT_THAT(text, testing::HasSubstr("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(text, testing::HasSubstr(">C5<"));
  EXPECT_THAT(text, testing::EndsWith("</svg>\n"));
  EXPECT_THROW(write_picture("a.jpg", kNotes, concert_a()), Error);
}

}  // namespace
}  // namespace hum::pipeline
