// Writes labels into pictures, in a font of 5 by 7 pixels that has the characters of note names and
// seconds only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pipeline/picture.h"

namespace hum::pipeline {

inline constexpr int64_t kTextHeight = 7;

// In pixels.
int64_t text_width(std::string_view text);

// `x`, `y`: the upper left corner. Characters that the font lacks are blank.
void draw_text(Image& image, int64_t x, int64_t y, std::string_view text,
               const std::array<uint8_t, 3>& colour);

}  // namespace hum::pipeline
