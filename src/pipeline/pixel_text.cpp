#include "pipeline/pixel_text.h"

#include <algorithm>

namespace hum::pipeline {
namespace {

constexpr int64_t kGlyphWidth = 5, kAdvance = 6;

struct Glyph {
  char character;
  std::array<uint8_t, kTextHeight> rows;  // the leftmost pixel is the highest of five bits
};

constexpr Glyph kFont[] = {{'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
                           {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
                           {'2', {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111}},
                           {'3', {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110}},
                           {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
                           {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
                           {'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
                           {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000}},
                           {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
                           {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
                           {'A', {0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001}},
                           {'B', {0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110}},
                           {'C', {0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110}},
                           {'D', {0b11100, 0b10010, 0b10001, 0b10001, 0b10001, 0b10010, 0b11100}},
                           {'E', {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111}},
                           {'F', {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000}},
                           {'G', {0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01111}},
                           {'#', {0b01010, 0b01010, 0b11111, 0b01010, 0b11111, 0b01010, 0b01010}},
                           {'-', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000}},
                           {'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
                           {'s', {0b00000, 0b00000, 0b01110, 0b10000, 0b01110, 0b00001, 0b11110}}};

}  // namespace

int64_t text_width(std::string_view text) { return kAdvance * std::ssize(text); }

void draw_text(Image& image, int64_t x, int64_t y, std::string_view text,
               const std::array<uint8_t, 3>& colour) {
  for (const char character : text) {
    const auto* glyph = std::ranges::find(kFont, character, &Glyph::character);
    for (int64_t row = 0; glyph != std::end(kFont) && row < kTextHeight; ++row) {
      for (int64_t column = 0; column < kGlyphWidth; ++column) {
        const int bit = glyph->rows[static_cast<size_t>(row)] >> (kGlyphWidth - 1 - column) & 1;
        if (bit != 0) set_pixel(image, x + column, y + row, colour);
      }
    }
    x += kAdvance;
  }
}

}  // namespace hum::pipeline
