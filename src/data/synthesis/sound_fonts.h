// The General MIDI sound fonts that training items are made with, all Debian packages.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hum::data {

struct SoundFont {
  std::string_view name;     // "fluidr3"
  std::string_view path;     // where its package puts it
  std::string_view package;  // Debian's
  bool held_out;             // kept out of training data: instruments to be judged on as unseen
};

std::span<const SoundFont> sound_fonts();

// Throws: kUsage with all names when there is none of this name.
const SoundFont& find_sound_font(std::string_view name);

// Those that training data is made with when none are named.
std::vector<const SoundFont*> training_sound_fonts();

// Throws: kNoInput with the package when it is not installed.
std::filesystem::path installed_path(const SoundFont& font);

// The one for everything but items: HUM_SOUND_FONT, else the first of the table that is installed.
// Throws: kNoInput when there is none, with the package to install.
std::filesystem::path sound_font_path();

}  // namespace hum::data
