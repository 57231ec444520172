#include "data/synthesis/items.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/rng.h"
#include "data/synthesis/features.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

using audio::Note;

constexpr double kJitter_s = 0.025;
constexpr double kShortest_s = 0.07;  // shorter transcribed notes are dropped, as generation does
// References are cut from a render of this length.
constexpr double kReferenceRender_s = 5.5;

double sounding_time(std::span<const Note> notes) {
  double sum_s = 0;
  for (const Note& note : notes) sum_s += note.end_s - note.start_s;
  return sum_s;
}

// The notes that start before `end_s`.
std::vector<Note> before(std::span<const Note> notes, double end_s) {
  std::vector<Note> result;
  for (const Note& note : notes) {
    if (note.start_s < end_s) result.push_back(note);
  }
  return result;
}

// Applies onset jitter and drops.
std::vector<Note> with_defects(std::span<const Note> notes, Rng& rng) {
  std::vector<Note> result;
  for (const Note& note : notes) {
    const double length_s = note.end_s - note.start_s;
    const double moved_s = std::clamp(kJitter_s * rng.normal(), -2 * kJitter_s, 2 * kJitter_s);
    if (is_missed(note, rng) && notes.size() > 2) continue;
    result.push_back(note);
    result.back().start_s += std::min(moved_s, length_s / 2);
  }
  return result;
}

// Changes the melody that the models get: octave and drops.
std::vector<Note> as_heard(std::vector<Note> notes, const Augmentation& drawn, uint64_t seed,
                           uint64_t index) {
  Rng rng(seed, "dropped notes", index);
  if (drawn.drops_notes && notes.size() > 2) {
    std::vector<Note> kept;
    std::ranges::copy_if(notes, std::back_inserter(kept),
                         [&](const Note& note) { return !is_missed(note, rng); });
    if (kept.size() >= 2) notes = std::move(kept);
  }
  return shifted(notes, 0, drawn.octave);
}

// Notes to render, and where the reference begins in them.
struct ReferencePart {
  std::vector<Note> notes;
  double start_s = 0;
};

}  // namespace

struct ItemMaker::Impl {
  ItemOptions options;
  Transcriber transcriber;
  std::vector<const Preset*> presets;
  std::vector<const SoundFont*> sound_fonts;
  std::vector<std::unique_ptr<FluidRenderer>> renderers;  // one per sound font

  Impl(ItemOptions item_options, Transcriber hum_transcriber);

  Melody melody(std::string_view role, uint64_t index, const Preset& preset, double seconds) const;
  Melody target_melody(TrainingItem& item, const Preset& preset, double seconds) const;
  std::optional<std::vector<Note>> heard(const TrainingItem& item, std::span<const Note> notes,
                                         double seconds, const Preset& preset) const;
  uint64_t seed() const { return static_cast<uint64_t>(options.seed); }
  void add_reference(TrainingItem& item, const Preset& preset, Rng& rng);
  ReferencePart reference_part(const TrainingItem& item, const Preset& preset, double length_s,
                               Rng& rng) const;
  std::vector<float> target(const TrainingItem& item, double lead_s, const Preset& preset);
  FluidRenderer& renderer(const TrainingItem& item) const {
    return *renderers[static_cast<size_t>(item.sound_font)];
  }
};

ItemMaker::Impl::Impl(ItemOptions item_options, Transcriber hum_transcriber)
    : options(std::move(item_options)), transcriber(std::move(hum_transcriber)) {
  validate(options.reference);
  for (const auto& name : options.presets) presets.push_back(&find_preset(name));
  for (const auto& name : options.sound_fonts) sound_fonts.push_back(&find_sound_font(name));
  if (presets.empty()) presets = training_presets();
  if (sound_fonts.empty()) sound_fonts = training_sound_fonts();
  for (const SoundFont* font : sound_fonts) {
    renderers.push_back(std::make_unique<FluidRenderer>(installed_path(*font)));
  }
}

Melody ItemMaker::Impl::melody(std::string_view role, uint64_t index, const Preset& preset,
                               double seconds) const {
  const auto key = stream_key(seed(), role, index);
  return make_melody((static_cast<uint64_t>(key[1]) << 32) | key[0], index, preset,
                     {.seconds = seconds,
                      .expressive_share = options.expressive_share,
                      .chord_share = options.chord_share});
}

// The melody at its tempo, transposed as far as the preset's range allows.
Melody ItemMaker::Impl::target_melody(TrainingItem& item, const Preset& preset,
                                      double seconds) const {
  Augmentation& drawn = item.augmentation;
  auto result = melody("target melody", item.index, preset, seconds * drawn.tempo);
  drawn.transposition =
      fitting_transposition(result.notes, drawn.transposition, preset.low, preset.high);
  result.notes = shifted(at_tempo(result.notes, drawn.tempo), 0, drawn.transposition);
  return result;
}

// The notes of a synthetic hum of `notes`; empty when too few of them were recognised.
std::optional<std::vector<Note>> ItemMaker::Impl::heard(const TrainingItem& item,
                                                        std::span<const Note> notes, double seconds,
                                                        const Preset& preset) const {
  const int shift = octave_shift(notes, kHumLow, kHumHigh);
  auto hum = render_hum(shifted(notes, 0, shift), seconds, seed(), item.index);
  disturb(hum, item.augmentation.hum_gain_db, item.augmentation.hum_snr_db, seed(), "hum noise",
          item.index);
  std::vector<Note> result;
  for (Note& note : velocity_from_rms(hum, transcriber(hum))) {
    audio::transpose(note, -shift);
    while (note.pitch < preset.low) audio::transpose(note, 12);
    while (note.pitch > preset.high) audio::transpose(note, -12);
    if (note.end_s - note.start_s >= kShortest_s && note.pitch >= preset.low) {
      result.push_back(std::move(note));
    }
  }
  if (result.size() < 2 || sounding_time(result) < 0.5 * sounding_time(notes)) return {};
  std::ranges::stable_sort(result, {}, [](const Note& note) { return note.start_s; });
  return result;
}

ReferencePart ItemMaker::Impl::reference_part(const TrainingItem& item, const Preset& preset,
                                              double length_s, Rng& rng) const {
  if (item.reference_kind == ReferenceKind::kLowToHigh) {
    return {low_to_high(preset, length_s, seed(), item.index)};
  }
  auto notes = melody("reference melody", item.index, preset, kReferenceRender_s).notes;
  // Begins at a note's onset, so that even one second contains sound.
  const double latest_s = kReferenceRender_s - length_s;
  double start_s = notes.front().start_s;
  for (const Note& note : notes) {
    if (note.start_s <= latest_s && rng.chance(0.3)) start_s = note.start_s;
  }
  if (item.reference_kind == ReferenceKind::kSameRegister) {
    notes = in_register_of(item.played, notes, preset);
  }
  return {std::move(notes), std::min(start_s, latest_s)};
}

void ItemMaker::Impl::add_reference(TrainingItem& item, const Preset& preset, Rng& rng) {
  const double length_s = rng.uniform(1, 5);
  item.reference_kind = draw_reference_kind(options.reference, seed(), item.index);
  const auto part = reference_part(item, preset, length_s, rng);
  const auto samples = renderer(item).render(part.notes, preset.program, kReferenceRender_s);
  const auto first = samples.begin() + sample_of(part.start_s);
  item.reference.assign(first, first + sample_of(length_s));
  normalise_level(item.reference);
  record_reference(item.reference, item.augmentation, seed(), item.index);
  disturb(item.reference, item.augmentation.reference_gain_db, item.augmentation.reference_snr_db,
          seed(), "reference noise", item.index);
  item.reference_notes = before(shifted(part.notes, -part.start_s), length_s);
}

// Also plays the lead-in, so that notes that sound at time 0 have started before.
std::vector<float> ItemMaker::Impl::target(const TrainingItem& item, double lead_s,
                                           const Preset& preset) {
  const auto notes = shifted(item.played, lead_s);
  const double seconds = lead_s + kItemSeconds;
  const int channels = audio::channel_count(options.channels);
  auto samples = channels == 1
                     ? renderer(item).render(notes, preset.program, seconds)
                     : renderer(item).render_stereo(notes, preset.program, seconds).samples;
  samples.erase(samples.begin(), samples.begin() + sample_of(lead_s) * channels);
  samples.resize(static_cast<size_t>(kItemSamples) * static_cast<size_t>(channels));
  normalise_level(samples, channels);
  return samples;
}

ItemMaker::ItemMaker(ItemOptions options, Transcriber transcriber)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(transcriber))) {}

ItemMaker::~ItemMaker() = default;
ItemMaker::ItemMaker(ItemMaker&&) noexcept = default;

const std::vector<const Preset*>& ItemMaker::presets() const { return impl_->presets; }

const std::vector<const SoundFont*>& ItemMaker::sound_fonts() const { return impl_->sound_fonts; }

Json ItemMaker::describe(const TrainingItem& item) const {
  const Preset& preset = *presets()[static_cast<size_t>(item.preset)];
  const SoundFont& font = *sound_fonts()[static_cast<size_t>(item.sound_font)];
  Json result = {{"seed", impl_->options.seed},
                 {"index", item.index},
                 {"preset", preset.name},
                 {"program", preset.program},
                 {"sound_font", font.name},
                 {"mode", mode_name(item.mode)},
                 {"transcribed", item.transcribed},
                 {"defective", item.defective},
                 {"augmentation", hum::data::describe(item.augmentation)},
                 {"reference", to_name(item.reference_kind)}};
  const auto channels = impl_->options.channels;
  if (channels != audio::Channels::kMono) result["channels"] = to_name(channels);
  return result;
}

TrainingItem ItemMaker::make(uint64_t index) {
  const auto& options = impl_->options;
  Rng rng(impl_->seed(), "item", index);
  TrainingItem item{.index = index};
  const size_t presets = impl_->presets.size();
  item.preset = static_cast<int>(index % presets);
  item.sound_font = static_cast<int>(index / presets % impl_->sound_fonts.size());
  item.augmentation = draw_augmentation(options.augment, impl_->seed(), index);
  const Preset& preset = *impl_->presets[item.preset];
  const double lead_s = rng.chance(0.5) ? 0 : rng.uniform(1, 2);
  const double seconds = lead_s + kItemSeconds;
  const auto melody = impl_->target_melody(item, preset, seconds);
  item.mode = melody.mode;
  auto notes = melody.notes;
  // A hum has one voice: chords are never transcribed. The draw happens anyway, so that items stay
  // comparable.
  const bool wants_hum = rng.chance(options.transcribed_share);
  if (wants_hum && impl_->transcriber && !melody.chords) {
    auto heard = impl_->heard(item, notes, seconds, preset);
    item.transcribed = heard.has_value();
    if (heard) notes = std::move(*heard);
  }
  const auto asked = before(shifted(notes, -lead_s), kItemSeconds);
  item.defective = rng.chance(options.defect_share);
  item.played = item.defective ? with_defects(asked, rng) : asked;
  item.melody = as_heard(asked, item.augmentation, impl_->seed(), index);
  item.target = impl_->target(item, lead_s, preset);
  item.features = melody_features(item.melody, kItemFrames);
  impl_->add_reference(item, preset, rng);
  return item;
}

}  // namespace hum::data
