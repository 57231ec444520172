#include "data/stems/render.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "audio/loudness.h"
#include "base/error.h"
#include "data/shards/array_files.h"
#include "data/stems/effects.h"
#include "data/stems/part_sound_impl.h"
#include "data/stems/window_parts_impl.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

using internal::kLeadIn_s;
using internal::WindowPart;

constexpr double kSilent = 1e-3;         // -60 dBFS
constexpr double kMostGain_db = 20;      // so that what rings on is not made loud
constexpr double kLevelRange_db = 3;     // of a stem, either way
constexpr uint64_t kPartsPerSong = 256;  // distinguishes the draws of parts; MIDI has fewer

// The usual level of a stem against kTargetRms.
double level_db(Stem stem) {
  switch (stem) {
    case Stem::kVocals:
      return 1;
    case Stem::kChordal:
      return -3;
    case Stem::kOther:
      return -5;
    default:
      return 0;
  }
}

// Where a part stands, -1 to 1. What carries a song stands in the middle.
double draw_balance(Stem stem, Rng& rng) {
  const double place = rng.uniform(-1, 1);
  if (stem == Stem::kChordal || stem == Stem::kOther) return 0.6 * place;
  return stem == Stem::kLead ? 0.2 * place : 0;
}

void add_part(const audio::AudioBuffer& part, double gain, double balance,
              std::vector<float>& stem) {
  const auto left = static_cast<float>(gain * std::min(1.0, 1 - balance));
  const auto right = static_cast<float>(gain * std::min(1.0, 1 + balance));
  const size_t count = std::min(stem.size(), part.samples.size());
  for (size_t i = 0; i + 1 < count; i += 2) {
    stem[i] += left * part.samples[i];
    stem[i + 1] += right * part.samples[i + 1];
  }
}

float peak_of(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  return peak;
}

// Scales a stem to its level, or less.
void set_level(double wanted_db, std::vector<float>& stem) {
  const double rms = active_rms(stem, 2);
  if (rms < 1e-7) return;
  const double gain =
      std::min(kTargetRms * audio::from_db(wanted_db) / rms, audio::from_db(kMostGain_db));
  for (float& sample : stem) sample *= static_cast<float>(gain);
}

using StemSounds = std::array<std::vector<float>, kStemCount>;

// One gain for all stems, so that neither they nor their sum reach full scale.
void limit_peaks(StemSounds& stems, size_t samples) {
  std::vector<float> mixture(samples);
  float peak = 0;
  for (const auto& stem : stems) {
    for (size_t i = 0; i < stem.size(); ++i) mixture[i] += stem[i];
    peak = std::max(peak, peak_of(stem));
  }
  peak = std::max(peak, peak_of(mixture));
  if (peak <= kPeakLimit) return;
  const auto gain = static_cast<float>(kPeakLimit / peak);
  for (auto& stem : stems) {
    for (float& sample : stem) sample *= gain;
  }
}

// Those that start in a window of so many seconds, on its clock.
std::array<std::vector<audio::Note>, kStemCount> notes_of(const std::vector<WindowPart>& parts,
                                                          double seconds) {
  std::array<std::vector<audio::Note>, kStemCount> notes;
  for (const WindowPart& part : parts) {
    for (audio::Note note : part.notes) {
      note.start_s -= kLeadIn_s;
      note.end_s -= kLeadIn_s;
      if (note.start_s < 0 || note.start_s >= seconds) continue;
      notes[static_cast<size_t>(part.stem)].push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace

struct StemRenderer::Impl {
  StemOptions options;
  const SongSource& source;
  internal::PartPlayer player;

  Impl(const StemOptions& options_, const SongSource& source_)
      : options(options_), source(source_), player(options_) {}

  double rendered_s() const { return kLeadIn_s + options.seconds; }
  size_t window_samples() const {
    return 2 * static_cast<size_t>(std::llround(options.seconds * kStemRate));
  }
  StemSounds play_parts(const BandSong& song, const std::vector<WindowPart>& parts, uint64_t index,
                        Json& described);
  void finish_stems(StemSounds& stems, Rng& rng, Json& described) const;
};

StemSounds StemRenderer::Impl::play_parts(const BandSong& song,
                                          const std::vector<WindowPart>& parts, uint64_t index,
                                          Json& described) {
  StemSounds stems;
  for (const WindowPart& notes : parts) {
    const audio::MidiPart& part = song.song.midi.parts[notes.part];
    // A part has one singer and one instrument, whichever stems it belongs to.
    const uint64_t number = index * kPartsPerSong + notes.part % kPartsPerSong;
    auto played = player.play(notes, part, rendered_s(), number);
    Rng rng(static_cast<uint64_t>(options.seed), "stem balance", number);
    auto& stem = stems[static_cast<size_t>(notes.stem)];
    stem.resize(std::max(stem.size(), played.sound.samples.size()));
    add_part(played.sound, part.gain, draw_balance(notes.stem, rng), stem);
    played.instrument["part"] = notes.part;
    played.instrument["stem"] = to_name(notes.stem);
    described.push_back(std::move(played.instrument));
  }
  return stems;
}

// Effects, the cut to the window, and levels.
void StemRenderer::Impl::finish_stems(StemSounds& stems, Rng& rng, Json& described) const {
  const Room room = draw_room_of_song(rng);
  const auto lead_in = 2 * static_cast<int64_t>(std::llround(kLeadIn_s * kStemRate));
  for (const Stem stem : kStems) {
    const StemEffects effects = draw_effects(stem, rng);
    const double wanted_db = level_db(stem) + rng.uniform(-kLevelRange_db, kLevelRange_db);
    auto& samples = stems[static_cast<size_t>(stem)];
    if (samples.empty()) continue;
    audio::AudioBuffer sound{kStemRate, 2, std::move(samples)};
    apply(effects, room, sound);
    samples.assign(sound.samples.begin() + lead_in, sound.samples.end());
    samples.resize(window_samples());
    set_level(wanted_db, samples);
  }
  limit_peaks(stems, window_samples());
  described = {{"decay_s", room.decay_s}, {"damping", room.damping}};
}

StemRenderer::StemRenderer(const StemOptions& options, const SongSource& source) {
  validate(options);
  impl_ = std::make_unique<Impl>(options, source);
}

StemRenderer::~StemRenderer() = default;
StemRenderer::StemRenderer(StemRenderer&&) noexcept = default;

StemWindow StemRenderer::render(uint64_t index) {
  const StemOptions& options = impl_->options;
  const BandSong song = impl_->source.draw(index);
  const audio::MidiSong& midi = song.song.midi;
  Rng rng(static_cast<uint64_t>(options.seed),
          fmt::format("{} stem window", to_name(options.split)), index);
  const bool is_sung = rng.chance(options.sung_share);
  const auto roles = roles_of(midi, {.names = song.names, .lead_is_sung = is_sung});
  const double start_s = internal::draw_window(midi, roles, options.seconds, rng);
  Json parts = Json::array(), room;
  const auto window_parts = internal::window_parts(midi, roles, start_s, options.seconds);
  StemSounds stems = impl_->play_parts(song, window_parts, index, parts);
  impl_->finish_stems(stems, rng, room);
  StemWindow window{.index = index, .notes = notes_of(window_parts, options.seconds)};
  Json silent = Json::array();
  for (const Stem stem : kStems) {
    const auto& samples = stems[static_cast<size_t>(stem)];
    if (peak_of(samples) >= kSilent) {
      window.stems[static_cast<size_t>(stem)] = to_int16(samples);
    } else {
      silent.push_back(to_name(stem));
    }
  }
  window.description = {{"seed", options.seed},
                        {"index", index},
                        {"split", to_name(options.split)},
                        {"song", song.song.name},
                        {"sha256", song.song.sha256},
                        {"package", song.package},
                        {"licence", song.licence},
                        {"start_s", start_s},
                        {"sung", is_sung},
                        {"silent", std::move(silent)},
                        {"parts", std::move(parts)},
                        {"room", std::move(room)}};
  return window;
}

}  // namespace hum::data
