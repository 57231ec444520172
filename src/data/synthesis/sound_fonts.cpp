#include "data/synthesis/sound_fonts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/env.h"
#include "base/error.h"
#include "base/folders.h"

namespace hum::data {
namespace {

constexpr SoundFont kSoundFonts[] = {
    {"fluidr3", "/usr/share/sounds/sf2/FluidR3_GM.sf2", "fluid-soundfont-gm", FontUse::kTraining},
    {"timgm6mb", "/usr/share/sounds/sf2/TimGM6mb.sf2", "timgm6mb-soundfont", FontUse::kTraining},
    {"musescore", "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3",
     "musescore-general-soundfont-small", FontUse::kOnRequest},
    {"opl3", "/usr/share/sounds/sf2/OPL-3_FM_128M.sf2", "opl3-soundfont", FontUse::kFetched,
     "percussive-organ"},
};

constexpr SoundFont kDrumFonts[] = {
    {"black-pearl", "/usr/share/sounds/sf2/Black_Pearl_4_LV2.sf2", "avldrums.lv2-soundfont",
     FontUse::kFetched},
    {"red-zeppelin", "/usr/share/sounds/sf2/Red_Zeppelin_4_LV2.sf2", "avldrums.lv2-soundfont",
     FontUse::kFetched},
};

const SoundFont& find(std::span<const SoundFont> fonts, std::string_view name,
                      std::string_view kind) {
  const auto found = std::ranges::find(fonts, name, &SoundFont::name);
  if (found != fonts.end()) return *found;
  std::vector<std::string_view> names;
  for (const SoundFont& font : fonts) names.push_back(font.name);
  fail(ExitCode::kUsage, fmt::format("unknown {} '{}'", kind, name),
       fmt::format("use one of {}", fmt::join(names, ", ")));
}

}  // namespace

std::span<const SoundFont> sound_fonts() { return kSoundFonts; }

const SoundFont& find_sound_font(std::string_view name) {
  return find(kSoundFonts, name, "sound font");
}

std::span<const SoundFont> drum_fonts() { return kDrumFonts; }

const SoundFont& find_drum_font(std::string_view name) {
  return find(kDrumFonts, name, "drum font");
}

std::vector<const SoundFont*> training_sound_fonts() {
  std::vector<const SoundFont*> result;
  for (const SoundFont& font : kSoundFonts) {
    if (font.use == FontUse::kTraining) result.push_back(&font);
  }
  return result;
}

std::filesystem::path installed_path(const SoundFont& font) {
  if (std::filesystem::exists(font.path)) return font.path;
  const std::filesystem::path unpacked =
      in_wheels(std::filesystem::path("debian") / font.package /
                std::filesystem::path(font.path).relative_path());
  if (std::filesystem::exists(unpacked)) return unpacked;
  fail(ExitCode::kNoInput,
       fmt::format("the sound font {} is not installed: {} is missing", font.name, font.path),
       fmt::format("{}apt install {}", font.use == FontUse::kFetched ? "make fetch-stems, or " : "",
                   font.package));
}

std::filesystem::path sound_font_path() {
  const std::string chosen = env_string("HUM_SOUND_FONT");
  if (!chosen.empty()) {
    if (std::filesystem::exists(chosen)) return chosen;
    fail(ExitCode::kNoInput, fmt::format("sound font {} does not exist", chosen),
         "set HUM_SOUND_FONT to a sound font that exists");
  }
  for (const SoundFont& font : kSoundFonts) {
    if (std::filesystem::exists(font.path)) return font.path;
  }
  return installed_path(kSoundFonts[0]);
}

}  // namespace hum::data
