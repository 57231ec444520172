// The General MIDI sound fonts of training items, all from Debian packages.
//
// Some fonts are relatives. Medians over 104 presets of the distance of mean MFCCs, same notes:
// fluidr3 to musescore 17 (musescore derives from it), timgm6mb to csound-soundfont 6; between
// these families and opl3 (FM synthesis) 46 to 63. The nearest other preset of a font is 17 to 29
// away. To be unseen, a font's whole family must be held out of training.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hum::data {

enum class FontUse {
  kTraining,   // in training items that name no fonts
  kOnRequest,  // in items that name it
  kFetched,    // likewise; `make fetch-stems` unpacks its package
};

struct SoundFont {
  std::string_view name;     // "fluidr3"
  std::string_view path;     // where its package installs it
  std::string_view package;  // Debian's
  FontUse use;
  std::string_view off_pitch = {};  // the preset that it does not play at the written pitch
};

std::span<const SoundFont> sound_fonts();

// Finds a font by name. Throws: kUsage with all names when there is none.
const SoundFont& find_sound_font(std::string_view name);

// The default fonts of training data.
std::vector<const SoundFont*> training_sound_fonts();

// Fonts of one drum kit each, as program 0, with General MIDI's keys; not General MIDI otherwise.
std::span<const SoundFont> drum_fonts();
// Throws: kUsage with all names when there is none.
const SoundFont& find_drum_font(std::string_view name);

// The file of a font, installed or unpacked by `make fetch-stems`. Throws: kNoInput naming the
// package when there is none.
std::filesystem::path installed_path(const SoundFont& font);

// The font for everything but items: HUM_SOUND_FONT, else the first installed one of the table.
// Throws: kNoInput naming the package to install when there is none.
std::filesystem::path sound_font_path();

}  // namespace hum::data
