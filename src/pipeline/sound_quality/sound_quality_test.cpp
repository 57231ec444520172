// Synthetic singers: clean and slightly disturbed recordings get no warning, faults get theirs.
#include "pipeline/sound_quality/sound_quality.h"

#include <gmock/gmock.h>

#include "audio/loudness.h"
#include "audio/resample.h"
#include "base/error.h"
#include "data/singing/sung_item.h"
#include "data/synthesis/conditions.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

using data::Conditions;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kSeconds = 10;
constexpr uint64_t kSeed = 20261125;

struct Song {
  std::vector<float> samples;
  std::vector<audio::Note> notes;
};

Song sung(uint64_t index, std::optional<data::VoiceKind> kind = {}) {
  const auto item =
      data::make_sung_item(kSeed, index, {.seconds = kSeconds, .silent_share = 0, .kind = kind});
  Song song{item.samples, {}};
  for (const data::SungNote& note : item.notes) {
    song.notes.push_back({.start_s = note.start_s, .end_s = note.end_s, .hz = note.hz});
  }
  return song;
}

Song in(const Conditions& conditions, Song song) {
  Rng rng(kSeed, "sound quality");
  data::apply(conditions, {}, rng, song.samples);
  return song;
}

// Adds a sound, so many dB above the song.
Song beside(Song song, std::span<const float> sound, double db) {
  const double gain = audio::from_db(db) * data::active_rms(song.samples) / data::active_rms(sound);
  for (size_t i = 0; i < song.samples.size(); ++i) {
    song.samples[i] += static_cast<float>(gain * sound[i]);
  }
  return song;
}

std::vector<float> chords(int program) {
  std::vector<audio::Note> notes;
  int root = 57;
  for (double at_s = 0; at_s < kSeconds; at_s += 2.5, root = root == 57 ? 53 : 57) {
    for (const int interval : {0, 4, 7}) {
      notes.push_back({.start_s = at_s,
                       .end_s = std::min(at_s + 2.5, kSeconds),
                       .pitch = root + interval,
                       .amplitude = 0.63});
    }
  }
  return data::FluidRenderer().render(notes, program, kSeconds);
}

std::vector<std::string> warnings_of(const Song& song) {
  return quality_warnings(sound_quality(song.samples, song.notes));
}

// Several singers, because one may be an easy case.
constexpr uint64_t kSongs[] = {1, 2, 3, 4, 5, 6};

TEST(SoundQuality, HasNoFaultInCleanHums) {
  for (const auto kind : data::kVoiceKinds) {
    for (const uint64_t index : {1, 2}) {
      const Song song = sung(index, kind);
      EXPECT_THAT(warnings_of(song), IsEmpty()) << to_name(kind) << index;
      EXPECT_FALSE(has_narrow_band(song.samples)) << to_name(kind) << index;
    }
  }
}

TEST(SoundQuality, HasNoFaultInSlightNoiseEchoAndMainsHum) {
  const Conditions slight[] = {{.room_s = 0.4, .direct_db = 3},
                               {.white_db = -20},
                               {.pink_db = -20},
                               {.mains_db = -30},
                               {.thumps_db = 0},
                               {.low_cut_hz = 300, .high_cut_hz = 3400},
                               {.clip_db = 6}};
  for (const Conditions& conditions : slight) {
    for (const uint64_t index : {1, 2, 3}) {
      EXPECT_THAT(warnings_of(in(conditions, sung(index))), IsEmpty())
          << index << " " << &conditions - slight;
    }
  }
}

TEST(SoundQuality, MeasuresSteadyNoise) {
  for (const double level_db : {20.0, 15.0, 10.0}) {
    for (const uint64_t index : kSongs) {
      const Song noisy = in({.white_db = -level_db}, sung(index));
      EXPECT_NEAR(*sound_quality(noisy.samples, noisy.notes).signal_to_noise_db, level_db, 2);
    }
  }
}

TEST(SoundQuality, WarnsOfNoise) {
  for (const uint64_t index : kSongs) {
    EXPECT_THAT(warnings_of(in({.white_db = -10}, sung(index))),
                ElementsAre(HasSubstr("noisy recording (the voice is about 1")));
  }
}

TEST(SoundQuality, WarnsOfAnEchoingRoom) {
  for (const uint64_t index : kSongs) {
    EXPECT_THAT(warnings_of(in({.room_s = 1.0, .direct_db = 3}, sung(index))),
                ElementsAre(HasSubstr("reverberant recording")));
  }
}

TEST(SoundQuality, WarnsOfTwoSingers) {
  size_t warned = 0;
  for (const uint64_t index : kSongs) {
    const auto warnings = warnings_of(beside(sung(index), sung(index + 10).samples, 0));
    if (warnings.empty()) continue;  // one of six may be missed
    ++warned;
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("several voices or music")));
  }
  EXPECT_GE(warned, std::size(kSongs) - 1);
}

TEST(SoundQuality, WarnsOfChordsUnderTheVoice) {
  for (const int program : {0, 48, 89}) {  // a piano, strings, a pad
    const auto music = chords(program);
    for (const uint64_t index : kSongs) {
      EXPECT_THAT(warnings_of(beside(sung(index), music, -3)),
                  ElementsAre(HasSubstr("several voices or music")));
    }
  }
  const Song wanted = beside(sung(1), chords(48), 0);
  EXPECT_THAT(quality_warnings(sound_quality(wanted.samples, wanted.notes, false)), IsEmpty());
}

TEST(SoundQuality, KnowsANarrowBand) {
  for (const uint64_t index : kSongs) {
    const Song song = in({.white_db = -50}, sung(index));
    const std::pair<int, bool> rates[] = {{8000, true}, {11025, true}, {16000, false}};
    for (const auto& [rate_hz, is_narrow] : rates) {
      const auto there = audio::resample(song.samples, data::kSampleRate, rate_hz);
      EXPECT_EQ(has_narrow_band(audio::resample(there, rate_hz, data::kSampleRate)), is_narrow)
          << index << " " << rate_hz;
    }
  }
}

TEST(SoundQuality, IsUnknownWithoutSoundOrNotes) {
  const Song song = sung(1);
  const std::vector<float> silence(song.samples.size());
  for (const auto& quality : {sound_quality(song.samples, {}), sound_quality({}, song.notes),
                              sound_quality(std::span(song.samples).first(1000), song.notes)}) {
    EXPECT_FALSE(quality.signal_to_noise_db || quality.decay_s || quality.other_tones);
    EXPECT_THAT(quality_warnings(quality), IsEmpty());
  }
  EXPECT_THAT(quality_warnings(sound_quality(silence, song.notes)), IsEmpty());
  EXPECT_FALSE(has_narrow_band(silence));
  EXPECT_FALSE(has_narrow_band({}));
}

}  // namespace
}  // namespace hum::pipeline
