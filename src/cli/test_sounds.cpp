#include "cli/test_sounds.h"

#include <memory>

#include "data/synthesis/fluid.h"

namespace hum::cli {
namespace {

namespace fs = std::filesystem;

// Of Debian's packages.
constexpr const char* kFonts[] = {"/usr/share/sounds/sf2/TimGM6mb.sf2",
                                  "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3"};

eval::Renderer renderer(const fs::path& font) {
  auto fluid = std::make_shared<data::FluidRenderer>(font);
  return [fluid](std::span<const audio::Note> notes, const data::Preset& preset, double seconds) {
    return fluid->render(notes, preset.program, seconds);
  };
}

fs::path find_other_font(const std::string& named) {
  if (!named.empty()) return named;
  const fs::path training = fs::weakly_canonical(data::sound_font_path());
  for (const char* font : kFonts) {
    if (fs::exists(font) && fs::weakly_canonical(font) != training) return font;
  }
  return {};
}

}  // namespace

TestSounds::TestSounds(const std::string& other_font) : other_font_(find_other_font(other_font)) {
  for (const auto& preset : data::presets()) (preset.trained ? seen_ : unseen_).push_back(&preset);
  sources_ = {.seen = seen_, .unseen = unseen_, .render = renderer(data::sound_font_path())};
  if (!other_font_.empty()) sources_.render_other_font = renderer(other_font_);
}

}  // namespace hum::cli
