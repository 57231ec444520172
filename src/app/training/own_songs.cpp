#include "app/training/own_songs.h"

#include <array>
#include <cmath>

#include "base/rng.h"
#include "data/stems/drawn_melody.h"
#include "data/synthesis/melody.h"
#include "pipeline/accompaniment.h"
#include "pipeline/chords.h"
#include "pipeline/key.h"
#include "pipeline/tempo.h"

namespace hum::app {
namespace {

constexpr double kSong_s = 60;
constexpr int kBeats = 4;  // per bar
constexpr std::array kStyles = {pipeline::Style::kPop, pipeline::Style::kBallad,
                                pipeline::Style::kSwing};

}  // namespace

audio::MidiSong compose_song(data::Split split, uint64_t seed, uint64_t index) {
  Rng rng(seed, fmt::format("{} own song", to_name(split)), index);
  const data::Preset& preset = data::draw_lead_preset(split, rng);
  const auto melody =
      data::make_melody(rng.bits(), index, preset, {.seconds = kSong_s, .chord_share = 0});
  const pipeline::Key key{melody.tonic, melody.mode};
  const pipeline::Tempo tempo{melody.tempo_bpm,
                              pipeline::find_first_beat(melody.notes, melody.tempo_bpm), 1};
  const double bar_s = kBeats * tempo.beat_s();
  const auto bars = static_cast<int64_t>(std::ceil((kSong_s - tempo.first_beat_s) / bar_s));
  const auto chords = pipeline::harmonise(melody.notes, key, tempo, kBeats, bars);
  const auto style = kStyles[static_cast<size_t>(rng.integer(0, std::ssize(kStyles) - 1))];
  auto band = pipeline::accompany(chords, tempo, kBeats, style);
  audio::MidiSong song;
  song.tempos = {{0, melody.tempo_bpm}};
  song.parts = {{.track = 1, .program = preset.program, .name = "lead", .notes = melody.notes},
                {.track = 2,
                 .channel = 1,
                 .program = band.bass_program,
                 .name = "bass",
                 .notes = std::move(band.bass)},
                {.track = 3,
                 .channel = 2,
                 .program = band.chord_program,
                 .name = "chords",
                 .notes = std::move(band.chords)},
                {.track = 4,
                 .channel = audio::kDrumChannel,
                 .name = "drums",
                 .notes = std::move(band.drums)}};
  std::erase_if(song.parts, [](const audio::MidiPart& part) { return part.notes.empty(); });
  return song;
}

}  // namespace hum::app
