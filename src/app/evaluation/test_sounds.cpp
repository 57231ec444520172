#include "app/evaluation/test_sounds.h"

#include <algorithm>
#include <memory>

#include "app/play/synthesizer.h"
#include "base/error.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

eval::Renderer renderer(const fs::path& font) {
  auto fluid = std::make_shared<data::FluidRenderer>(font);
  return [fluid](std::span<const audio::Note> notes, const data::Preset& preset, double seconds) {
    return fluid->render(notes, preset.program, seconds);
  };
}

// Of the released weights (configs/data-generation-4.yaml).
constexpr std::string_view kHeldOutFont = "timgm6mb";

fs::path find_other_font(const std::string& named) {
  if (!named.empty()) return named;
  const fs::path training = fs::weakly_canonical(data::sound_font_path());
  fs::path other;
  for (const data::SoundFont& font : data::sound_fonts()) {
    const bool usable = fs::exists(font.path) && fs::weakly_canonical(font.path) != training;
    if (usable && (other.empty() || font.name == kHeldOutFont)) other = font.path;
  }
  return other;
}

}  // namespace

TestSounds::TestSounds(const fs::path& weights, const std::string& other_font)
    : other_font_(find_other_font(other_font)), seen_(known_presets(weights)) {
  if (seen_.empty()) {
    fail(ExitCode::kNoInput,
         fmt::format("{} hold no references, so their training presets are unknown",
                     weights.string()),
         "hum data references --weights FOLDER --data runs/data");
  }
  for (const auto& preset : data::presets()) {
    if (std::ranges::find(seen_, &preset) == seen_.end()) unseen_.push_back(&preset);
  }
  sources_ = {.seen = seen_, .unseen = unseen_, .render = renderer(data::sound_font_path())};
  if (!other_font_.empty()) sources_.render_other_font = renderer(other_font_);
}

}  // namespace hum::app
