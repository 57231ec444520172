#include <iterator>

#include "base/error.h"
#include "data/stems/part_sound_impl.h"
#include "data/stems/sung_lead.h"
#include "data/synthesis/sound_fonts.h"
#include "data/synthesizer/synthesizer.h"

namespace hum::data::internal {
namespace {

// Kits that most General MIDI fonts have: standard, room, power, electronic, TR-808, jazz, brush.
constexpr int kKits[] = {0, 8, 16, 24, 25, 32, 40};
constexpr double kOwnKit = 0.4;  // chance that a drum part keeps the kit of its song
// A normalised part is about twice as loud as FluidSynth plays one.
constexpr float kAsFluid = 0.5F;

void scale(audio::AudioBuffer& sound, float gain) {
  for (float& sample : sound.samples) sample *= gain;
}

}  // namespace

FluidRenderer& PartPlayer::Font::open() {
  if (!renderer) renderer = std::make_unique<FluidRenderer>(path);
  return *renderer;
}

PartPlayer::PartPlayer(const StemOptions& options) : options_(options) {
  for (const auto& name : options.sound_fonts) {
    fonts_.push_back({name, installed_path(find_sound_font(name)), nullptr});
  }
  for (const auto& name : options.drum_fonts) {
    drum_fonts_.push_back({name, installed_path(find_drum_font(name)), nullptr});
  }
}

PartSound PartPlayer::play(const WindowPart& notes, const audio::MidiPart& part, double seconds,
                           uint64_t number) {
  Rng rng(static_cast<uint64_t>(options_.seed),
          fmt::format("{} stem part", to_name(options_.split)), number);
  if (notes.stem == Stem::kVocals) {
    SungLead sung = sing_lead(notes.notes, seconds, rng.bits(), number);  // a singer of the split
    scale(sung.sound, kAsFluid);
    return {std::move(sung.sound), {{"voice", sung.voice}}};
  }
  const bool can_be_synth = notes.stem == Stem::kLead || notes.stem == Stem::kChordal;
  const bool is_synth = rng.chance(options_.synth_share);
  if (can_be_synth && is_synth) return play_synth(notes, seconds, number);
  if (part.channel == audio::kDrumChannel) return play_drums(notes, part, seconds, rng);
  return play_font(notes, part.program, seconds, rng);
}

PartSound PartPlayer::play_synth(const WindowPart& notes, double seconds, uint64_t number) {
  const auto role = notes.stem == Stem::kLead ? SynthRole::kLead : SynthRole::kChordal;
  // Another stream of presets for each split.
  const uint64_t index = 2 * number + (options_.split == Split::kHeldOut ? 1 : 0);
  const auto seed = static_cast<uint64_t>(options_.seed);
  const SynthPreset preset = draw_synth_preset(role, seed, index);
  PartSound result{render_synth(preset, notes.notes, seconds, seed, index),
                   {{"synthesizer", index}}};
  scale(result.sound, kAsFluid);
  return result;
}

PartSound PartPlayer::play_font(const WindowPart& notes, int program, double seconds, Rng& rng) {
  Font& font = fonts_[static_cast<size_t>(rng.integer(0, std::ssize(fonts_) - 1))];
  return {font.open().render_full_rate(notes.notes, program, seconds),
          {{"sound_font", font.name}, {"program", program}}};
}

PartSound PartPlayer::play_drums(const WindowPart& notes, const audio::MidiPart& part,
                                 double seconds, Rng& rng) {
  const auto drawn =
      static_cast<size_t>(rng.integer(0, std::ssize(fonts_) + std::ssize(drum_fonts_) - 1));
  if (drawn >= fonts_.size()) {
    Font& font = drum_fonts_[drawn - fonts_.size()];
    return {font.open().render_full_rate(notes.notes, 0, seconds), {{"drum_font", font.name}}};
  }
  Font& font = fonts_[drawn];
  const bool keeps = rng.chance(kOwnKit);
  int kit = kKits[static_cast<size_t>(rng.integer(0, std::ssize(kKits) - 1))];
  if (keeps) kit = part.program;
  if (!font.open().has(kDrumKit + kit)) kit = 0;
  return {font.open().render_full_rate(notes.notes, kDrumKit + kit, seconds),
          {{"sound_font", font.name}, {"kit", kit}}};
}

}  // namespace hum::data::internal
